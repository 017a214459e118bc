"""Turns result frames into what people read: tables, plots, the report and exports."""
