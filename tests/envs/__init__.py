"""Tests of the environments."""
