"""Turns result frames into tables, plots, the report and exports."""
