"""Rule confirm: test the members of a final blanket on the rows that its search left out."""

from blanketflow.workflow.stages.confirmation import confirm_blanket as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
