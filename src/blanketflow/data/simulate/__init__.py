"""Simulated data from networks whose Markov blankets are known."""

from .networks import NETWORKS, simulate, truth_of

__all__ = ["NETWORKS", "simulate", "truth_of"]
