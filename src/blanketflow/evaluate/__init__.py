"""How well downstream models predict from the selected features, and how well a selection matches a known truth."""
