"""The local page to play against agents and to watch records."""
