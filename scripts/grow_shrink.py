"""Rule grow_shrink: both phases on several folds in one job, for tables too small for one job per fold."""

from blanketflow.workflow.stages.decisions import grow_shrink as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
