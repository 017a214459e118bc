"""File formats besides CSV, Parquet and npz: one per file, each read by a maintained library where there is one."""
