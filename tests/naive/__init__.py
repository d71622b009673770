"""Slow, obvious twins of the games, written from the rules alone."""
