"""Environments: PettingZoo, Gymnasium, and all seats of many tables for learners."""
