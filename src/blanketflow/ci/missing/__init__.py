"""Tests where cells are missing: on the rows complete for their columns, or pooled over imputed copies."""
