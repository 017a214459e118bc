"""The Hilbert-Schmidt independence criterion."""
