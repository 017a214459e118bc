"""Simulated data from networks whose Markov blankets are known."""

from .network import Network
from .network_files import find_network, read_network
from .networks import NETWORKS, known_network, simulate, simulated

__all__ = ["NETWORKS", "Network", "find_network", "known_network", "read_network", "simulate", "simulated"]
