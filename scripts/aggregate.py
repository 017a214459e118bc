"""Rule aggregate: combine the sets of the folds into the blanket of a split."""

from blanketflow.workflow.stages.aggregation import aggregate_splits as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
