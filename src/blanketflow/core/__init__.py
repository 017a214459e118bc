"""Types, registry, cards, errors and seeds: what every other part stands on. Imports numpy only."""
