"""Tests by nearest neighbours, and permutations among the neighbours in the conditioning set."""
