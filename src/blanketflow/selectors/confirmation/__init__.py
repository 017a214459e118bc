"""Tests of what a search selected on rows that it never saw."""
