"""One thin file a library; each imports its library inside and says which extra brings it."""
