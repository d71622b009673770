"""Tests of adapters to other libraries."""
