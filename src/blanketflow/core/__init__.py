"""Types, registry, cards, errors and seeds that all other parts use. Imports numpy only."""
