# From the folds of a split to its blanket.
#
# inputs:  ci_test, grow, shrink   of each fold
# outputs: blanket, folds, blankets
#
# One job aggregates a split (aggregate) or, if one job searches all of them, every split (aggregate_dataset). Jobs of
# several selectors aggregate as well (select.smk).


rule aggregate:
    """Combine the folds of a split into its blanket."""
    input:
        marginal=marginals,
        grow=stage("grow"),
        shrink=stage("shrink"),
    output:
        blanket=[at("blanket")],
        by_fold=[at("folds")],
        answers=[at("blankets")],
    log:
        "<logs>/aggregate/{dataset}/{split}/{selector}.log",
    benchmark:
        "<benchmarks>/aggregate/{dataset}/{split}/{selector}.tsv"
    wildcard_constraints:
        dataset=plan.grains.pattern("fold", "split"),
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        **resources("aggregate"),
    params:
        folds=lambda w: plan.folds(w.selector),
        spec=lambda w: plan.aggregate_spec(w.dataset, w.selector),
        code=plan.code("aggregate"),
    script:
        "../scripts/aggregate.py"


rule aggregate_dataset:
    """Do the same for all splits of a data set."""
    input:
        marginal=marginals,
        grow=stage("grow"),
        shrink=stage("shrink"),
    output:
        blanket=on_all_splits(at("blanket")),
        by_fold=on_all_splits(at("folds")),
        answers=on_all_splits(at("blankets")),
    log:
        "<logs>/aggregate/{dataset}/{selector}.log",
    benchmark:
        "<benchmarks>/aggregate/{dataset}/{selector}.tsv"
    wildcard_constraints:
        dataset=plan.grains.pattern("dataset"),
    localrule: True
    conda:
        ENVIRONMENT
    resources:
        **resources("aggregate"),
    params:
        folds=lambda w: plan.folds(w.selector),
        spec=lambda w: plan.aggregate_spec(w.dataset, w.selector),
        code=plan.code("aggregate"),
    script:
        "../scripts/aggregate.py"
