"""Tests that permute X under a predictive model."""
