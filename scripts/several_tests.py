"""Rule several_tests: ci_test for several tests of a data set on all its folds."""

from blanketflow.workflow.stages.marginal import several_tests as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
