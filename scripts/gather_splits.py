"""Rule gather_splits: join the splits of every number of folds in one file, for users."""

from blanketflow.workflow.stages.splits import gather_splits as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
