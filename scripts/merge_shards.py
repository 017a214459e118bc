"""Rule merge_shards: add up the counts of all shards of one fold."""

from blanketflow.workflow.stages.counts import merge_shards
from blanketflow.workflow.stages.fold import on_one_fold

main = on_one_fold(merge_shards)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
