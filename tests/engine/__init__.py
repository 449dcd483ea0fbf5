"""Tests against a real engine with a small model; not part of `make test` (see `make test-engine`)."""
