"""Methods that rank features by a criterion, without a model."""
