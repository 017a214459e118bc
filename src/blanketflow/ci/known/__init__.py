"""Tests that know the network: by d-separation, or by its probabilities."""
