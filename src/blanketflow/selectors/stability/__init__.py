"""What `stability-selection` is made of: halves of the rows, rankings on them, paths and the bound."""
