"""The formats of a table's file, by the names that the key `format` takes."""

from __future__ import annotations

FORMATS = (
    "csv",
    "xlsx",
    "parquet",
    "npz",
    "arrow",
    "arff",
    "svmlight",
    "matlab",
    "c45",
    "orange",
    "nips2003",
    "h5ad",
    "stata",
    "spss",
    "sas",
    "xport",
    "duckdb",
    "sqlite",
)
