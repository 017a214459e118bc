"""Parts of `auto`: rankings, sets of several sizes, and predictions of models on held-out rows."""
