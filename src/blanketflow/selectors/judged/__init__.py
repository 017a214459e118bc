"""What `auto` consists of: rankings, sets of several sizes, and the predictions of models on held-out rows."""
