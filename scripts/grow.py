"""Rule grow: admit features to the candidate set on one fold."""

from blanketflow.workflow.stages.decisions import grow_fold
from blanketflow.workflow.stages.fold import on_one_fold

main = on_one_fold(grow_fold)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
