"""What jobs take, roughly: CPU seconds and memory, from the config and the shape of the table."""
