"""One file a game, each reading top to bottom like its rulebook. A new file here is found by itself."""
