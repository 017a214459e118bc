"""A search as a value: method, test and options of searching a table, and the outcome."""
