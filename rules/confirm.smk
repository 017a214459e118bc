# Tests the members of a final blanket on rows left out of its search.
#
# inputs:  table, splits
#          blanket   of the split full
# outputs: confirm   only for selectors with the key confirm


rule confirm:
    """Test each member given the others on the rows that the search left out."""
    input:
        table=TABLE,
        splits=splits,
        blanket=at("blanket", split=FINAL),
    output:
        confirmed=at("confirm", split=FINAL),
    log:
        "<logs>/confirm/{dataset}/{selector}.log",
    benchmark:
        "<benchmarks>/confirm/{dataset}/{selector}.tsv"
    conda:
        ENVIRONMENT
    resources:
        **resources("confirm", n_folds=1),
    params:
        spec=lambda w: plan.confirm_spec(w.dataset, w.selector),
        code=lambda w: plan.code("confirm", dataset=w.dataset, selector=w.selector),
    script:
        "../scripts/confirm.py"
