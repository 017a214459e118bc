"""Rule splits: draw every outer split of a data set and its inner folds, for one number of folds."""

from blanketflow.workflow.stages.splits import draw_splits as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
