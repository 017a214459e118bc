"""Rule count_shard: count one fold's rows in one block of the table."""

from blanketflow.workflow.stages.counts import count_shard
from blanketflow.workflow.stages.fold import on_one_fold

main = on_one_fold(count_shard)

if "snakemake" in globals():
    from blanketflow.workflow.jobs import run_script

    run_script(main, snakemake)  # noqa: F821
