"""What `import blanketflow` offers: the estimators, blankets of all columns, selection, comparison, inspection."""
