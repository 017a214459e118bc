"""CI tests on counts and sums of products in place of rows: agree, count, merge, and engines."""
