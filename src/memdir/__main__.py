"""`python -m memdir`."""

from memdir.cli import main

main()
