"""Tests and measures from contingency tables."""
