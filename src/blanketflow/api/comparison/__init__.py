"""Selectors compared without Snakemake: what is asked, the stages that are run, and what was found."""
