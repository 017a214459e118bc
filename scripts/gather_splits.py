"""Rule gather_splits: the splits of every number of folds in one file, for people."""

from blanketflow.workflow.stages.splits import gather_splits as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
