"""The stages of the workflow on a fold: read rows, test, grow, shrink, and write the results."""
