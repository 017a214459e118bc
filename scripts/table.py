"""Rule table: read a source once and store it typed, with its card."""

from blanketflow.workflow.stages.table import read_and_store as main

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
