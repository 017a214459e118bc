# Counts of a fold's rows for data sets with shards: a separate job counts each block of the table's rows.
#
# inputs:  table, splits
# outputs: agreement    levels and bin borders from all rows of the fold
#          count_shard  counts of one block (temp)
#          counts       their sum, read by ci_test, grow and shrink instead of the table
from blanketflow.workflow.sharded import shards

AGREEMENT = at("agreement")
COUNT_SHARD = at("count_shard")


rule agree:
    """Find the levels and borders by which all shards are counted."""
    input:
        table=TABLE,
        splits=splits,
    output:
        agreement=AGREEMENT,
    log:
        "<logs>/agree/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/agree/{dataset}/{split}/fold-{fold}/{test}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("agree"),
    params:
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("counts", test=w.test),
    script:
        "../scripts/agree.py"


rule count_shard:
    """Count the fold's rows in one block of the table."""
    input:
        table=TABLE,
        splits=splits,
        agreement=AGREEMENT,
    output:
        counts=temp(COUNT_SHARD),
    log:
        "<logs>/count_shard/{dataset}/{split}/fold-{fold}/{test}.shard-{shard}.log",
    benchmark:
        "<benchmarks>/count_shard/{dataset}/{split}/fold-{fold}/{test}.shard-{shard}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("count_shard"),
    params:
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("counts", test=w.test),
    script:
        "../scripts/count_shard.py"


rule merge_shards:
    """Add up the counts of all shards."""
    input:
        table=TABLE,
        splits=splits,
        agreement=AGREEMENT,
        shards=lambda w: expand(
            COUNT_SHARD,
            shard=shards(plan.config, w.dataset, w.test),
            allow_missing=True,
        ),
    output:
        counts=at("counts"),
    log:
        "<logs>/merge_shards/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/merge_shards/{dataset}/{split}/fold-{fold}/{test}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("merge_shards"),
    params:
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("counts", test=w.test),
    script:
        "../scripts/merge_shards.py"
