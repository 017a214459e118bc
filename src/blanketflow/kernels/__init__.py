"""Numba kernels: arrays in, arrays out. Compiled once per machine (`make setup` does it), then loaded from a cache."""
