"""Tests that follow relations that bend: nested regressions on splines, and the generalised covariance measure."""
