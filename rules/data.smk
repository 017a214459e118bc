# From a source to a table and its splits.
#
# inputs:  the data set's source: a file of the user's, a bundled set or a simulation
# outputs: <results>/data/{dataset}/table.parquet   features in table order, then the target
#          <results>/data/{dataset}/card.json       shape, kinds, target distribution, hash, truth where known
#          <results>/data/{dataset}/splits.parquet  row, split, part, folds, fold


rule table:
    """Read a source once and store it typed, with its card."""
    input:
        source=lambda w: plan.source_files(w.dataset),
    output:
        table="<results>/data/{dataset}/table.parquet",
        card="<results>/data/{dataset}/card.json",
    log:
        "<logs>/table/{dataset}.log",
    benchmark:
        "<benchmarks>/table/{dataset}.tsv"
    conda:
        ENVIRONMENT
    params:
        spec=lambda w: plan.table_spec(w.dataset),
        code=plan.code("table"),
    script:
        "../scripts/table.py"


rule splits:
    """Draw every partition once: outer splits, and their inner folds for each K in use."""
    input:
        table="<results>/data/{dataset}/table.parquet",
    output:
        splits="<results>/data/{dataset}/splits.parquet",
    log:
        "<logs>/splits/{dataset}.log",
    benchmark:
        "<benchmarks>/splits/{dataset}.tsv"
    conda:
        ENVIRONMENT
    params:
        spec=lambda w: plan.splits_spec(w.dataset),
        code=plan.code("splits"),
    script:
        "../scripts/splits.py"
