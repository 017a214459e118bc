"""From result frames to what people read: tables, plots, the report, exports."""
