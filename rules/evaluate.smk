# How well models do with each blanket, on rows that selection never saw.
#
# inputs:  <results>/data/{dataset}/table.parquet, splits-{folds}.parquet
#          <results>/select/{dataset}/cv-*/{selector}/blanket.parquet
# outputs: <results>/evaluate/{dataset}/{selector}.parquet  split, model, metric, value, n_features, seconds


rule evaluate:
    """Train every model on each evaluation split's chosen features and score it on the test rows."""
    input:
        table="<results>/data/{dataset}/table.parquet",
        splits=splits,
        blankets=expand(
            "<results>/select/{dataset}/{split}/{selector}/blanket.parquet",
            split=plan.evaluation_splits,
            allow_missing=True,
        ),
    output:
        scores="<results>/evaluate/{dataset}/{selector}.parquet",
    log:
        "<logs>/evaluate/{dataset}/{selector}.log",
    benchmark:
        "<benchmarks>/evaluate/{dataset}/{selector}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("evaluate", n_folds=1),
    params:
        spec=plan.evaluate_spec(),
        code=plan.code("evaluate"),
    script:
        "../scripts/evaluate.py"
