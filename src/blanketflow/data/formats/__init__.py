"""File formats besides CSV, Parquet and npz: one a file, each read by a maintained library where there is one."""
