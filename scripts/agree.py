"""Rule agree: levels and bin borders of one fold's rows, for counting all shards."""

from blanketflow.workflow.stages.counts import agree
from blanketflow.workflow.stages.fold import on_one_fold

main = on_one_fold(agree)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
