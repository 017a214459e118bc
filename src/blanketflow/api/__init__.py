"""The public interface: estimators, blankets of all columns, selection, comparison and inspection."""
