"""What is wrong in a memory directory, and how it is put right."""
