"""Tests and measures that count combinations of levels."""
