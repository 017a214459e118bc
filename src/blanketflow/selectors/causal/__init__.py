"""Methods that search for the Markov blanket by conditional-independence tests."""
