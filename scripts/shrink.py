"""Rule shrink: remove false positives from the candidates on one fold."""

from blanketflow.workflow.stages.decisions import shrink_fold
from blanketflow.workflow.stages.fold import on_one_fold

main = on_one_fold(shrink_fold)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
