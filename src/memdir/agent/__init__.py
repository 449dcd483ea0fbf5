"""One agent: a loop with tools, what it may do and has seen, its forks, its transcript, its events."""
