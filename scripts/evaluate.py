"""Rule evaluate: score models with each evaluation split's blanket on its test rows."""

from blanketflow.workflow.stages.evaluation import evaluate_blankets as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
