"""Tests by linear and logistic regressions, on rows or on cross products."""
