"""Experiments of papers beside what they printed and claimed: `python -m studies.papers`."""
