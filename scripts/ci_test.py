"""Rule ci_test: every feature against the target, unconditionally, on the rows of one or several folds."""

from blanketflow.workflow.stages.marginal import ci_test as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
