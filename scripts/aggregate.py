"""Rule aggregate: which of the folds' sets is the blanket of a split, and which others a method found."""

from blanketflow.workflow.stages.aggregation import aggregate_splits as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
