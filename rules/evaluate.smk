# How well models do with each blanket, on rows that selection never saw.
#
# inputs:  <results>/data/{dataset}/table.parquet, splits-{folds}.parquet
#          <results>/select/{dataset}/cv-*/{selector}/blanket.parquet
#          <results>/select/{dataset}/full/{selector}/blanket.parquet, with splits: {optimistic: true}
# outputs: <results>/evaluate/{dataset}/{selector}.parquet  split, model, metric, value, n_features, seconds
#          <results>/evaluate/{dataset}/all-rows/{selector}.parquet  the same of the final blanket


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


rule evaluate_optimistic:
    """The same with the final blanket, which has seen the test rows: what many papers print."""
    input:
        table="<results>/data/{dataset}/table.parquet",
        splits=splits,
        blankets=lambda w: [
            f"{plan.config.output}/select/{w.dataset}/full/{w.selector}/blanket.parquet"
        ]
        * len(plan.evaluation_splits),
    output:
        scores="<results>/evaluate/{dataset}/all-rows/{selector}.parquet",
    log:
        "<logs>/evaluate/{dataset}/all-rows/{selector}.log",
    benchmark:
        "<benchmarks>/evaluate/{dataset}/all-rows/{selector}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("evaluate", n_folds=1),
    params:
        spec=plan.evaluate_spec(),
        code=plan.code("evaluate"),
    script:
        "../scripts/evaluate.py"
