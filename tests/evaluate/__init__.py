"""Tests of matches, intervals and reports."""
