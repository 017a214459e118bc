# How well models do with each blanket, on rows that selection never saw.
#
# inputs:  table, splits
#          blanket              of each evaluation split; of the final one, with splits: {optimistic: true}
# outputs: evaluate             scores on the test rows
#          evaluate_optimistic  the same of the final blanket


rule evaluate:
    """Train every model on each evaluation split's chosen features and score it on the test rows."""
    input:
        table=TABLE,
        splits=splits,
        blankets=lambda w: files.evaluated("evaluate", w),
    output:
        scores=at("evaluate"),
    log:
        "<logs>/evaluate/{dataset}/{selector}.log",
    benchmark:
        "<benchmarks>/evaluate/{dataset}/{selector}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("evaluate", n_folds=1),
    params:
        spec=lambda w: plan.evaluate_spec(w.dataset),
        code=plan.code("evaluate"),
    script:
        "../scripts/evaluate.py"


rule evaluate_optimistic:
    """The same with the final blanket, which has seen the test rows: what many papers print."""
    input:
        table=TABLE,
        splits=splits,
        blankets=lambda w: files.evaluated("evaluate_optimistic", w),
    output:
        scores=at("evaluate_optimistic"),
    log:
        "<logs>/evaluate/{dataset}/all-rows/{selector}.log",
    benchmark:
        "<benchmarks>/evaluate/{dataset}/all-rows/{selector}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("evaluate", n_folds=1),
    params:
        spec=lambda w: plan.evaluate_spec(w.dataset),
        code=plan.code("evaluate"),
    script:
        "../scripts/evaluate.py"
