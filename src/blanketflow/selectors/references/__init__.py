"""What other selectors are measured against."""
