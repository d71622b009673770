"""Tests of the page, the server behind it, and the game in the terminal."""
