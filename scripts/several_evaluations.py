"""Rule several_evaluations: evaluate several selectors of a data set."""

from blanketflow.workflow.stages.evaluation import several_evaluations as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
