"""Tests of nonlinear relations: nested regressions on splines, and the generalised covariance measure."""
