"""Rule several_selectors: grow_shrink and aggregate for several selectors of a data set on all its folds."""

from blanketflow.workflow.stages.several_selectors import several_selectors as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
