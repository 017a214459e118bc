"""A search as a value: how a table is searched, by which method and test, and what was found."""
