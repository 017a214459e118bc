"""Data: where tables come from, how they are stored, described, split and simulated."""
