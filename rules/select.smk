# From splits to Markov blankets: grow -> shrink on every fold, then aggregate.
#
# inputs:  table, or counts of a data set with shards; splits, ci_test
# outputs: grow, shrink     of each fold
#          blanket, folds, blankets
#
# By the plan's grain one job grows or shrinks on a fold (grow, shrink), or does both on all K folds of a split
# (grow_shrink_K) or of all splits (grow_shrink_dataset_K), or aggregates, too, for several selectors
# (several_selectors). These rules stand apart by what {dataset} may be.

GROW = at("grow")
SHRINK = at("shrink")


rule grow:
    """Admit candidates on one fold."""
    input:
        table=rows,
        splits=splits,
        marginal=marginals,
    output:
        grow=GROW,
    log:
        "<logs>/grow/{dataset}/{split}/{selector}/fold-{fold}.log",
    benchmark:
        "<benchmarks>/grow/{dataset}/{split}/{selector}/fold-{fold}.tsv"
    wildcard_constraints:
        dataset=plan.grains.pattern("fold", stage="grow"),
    conda:
        ENVIRONMENT
    resources:
        **resources("grow"),
    params:
        spec=lambda w: plan.method_spec(w.dataset, w.selector),
        code=lambda w: plan.code("grow_shrink", dataset=w.dataset, selector=w.selector),
    script:
        "../scripts/grow.py"


rule shrink:
    """Remove false positives on one fold."""
    input:
        table=rows,
        splits=splits,
        marginal=marginals,
        grow=GROW,
    output:
        shrink=SHRINK,
    log:
        "<logs>/shrink/{dataset}/{split}/{selector}/fold-{fold}.log",
    benchmark:
        "<benchmarks>/shrink/{dataset}/{split}/{selector}/fold-{fold}.tsv"
    wildcard_constraints:
        dataset=plan.grains.pattern("fold", stage="shrink"),
    conda:
        ENVIRONMENT
    resources:
        **resources("shrink"),
    params:
        spec=lambda w: plan.method_spec(w.dataset, w.selector),
        code=lambda w: plan.code("grow_shrink", dataset=w.dataset, selector=w.selector),
    script:
        "../scripts/shrink.py"


for grain, K in plan.grains.joined:
    ours = f"{grain_path(grain)}/{{selector}}/folds-{K}"

    rule:
        name:
            f"grow_shrink_{grain_name(grain, K)}"
        input:
            table=TABLE,
            splits=splits,
            marginal=marginals,
        output:
            grow=joined(GROW, grain, fold=fold_ids(K)),
            shrink=joined(SHRINK, grain, fold=fold_ids(K)),
        log:
            f"<logs>/grow_shrink/{ours}.log",
        benchmark:
            f"<benchmarks>/grow_shrink/{ours}.tsv"
        wildcard_constraints:
            dataset=plan.grains.pattern(grain, n_folds=K),
        conda:
            ENVIRONMENT
        resources:
            **resources("grow_shrink"),
        params:
            folds=parts(),
            spec=lambda w: plan.method_spec(w.dataset, w.selector),
            code=lambda w: plan.code(
                "grow_shrink", dataset=w.dataset, selector=w.selector
            ),
        script:
            "../scripts/grow_shrink.py"


for number, (selectors, datasets) in enumerate(plan.grains.several_selectors, 1):

    rule:
        name:
            f"several_selectors_{number}"
        input:
            table=TABLE,
            splits=each(selectors, files.splits),
            marginal=each(selectors, files.marginals),
        output:
            grow=of_selectors(GROW, selectors),
            shrink=of_selectors(SHRINK, selectors),
            blanket=of_selectors(at("blanket"), selectors),
            by_fold=of_selectors(at("folds"), selectors),
            answers=of_selectors(at("blankets"), selectors),
        log:
            f"<logs>/several_selectors/{{dataset}}/{number}.log",
        benchmark:
            f"<benchmarks>/several_selectors/{{dataset}}/{number}.tsv"
        wildcard_constraints:
            dataset=any_of(datasets),
        conda:
            ENVIRONMENT
        resources:
            **resources_of_several(
                "grow_shrink",
                selectors,
                lambda ids: len(files.folds(ids)),
                rule=f"several_selectors_{number}",
            ),
        params:
            spec=of_each(job_files.selectors_spec, selectors),
            code=of_each(job_files.selectors_code, selectors),
        script:
            "../scripts/several_selectors.py"


for grain, grains in (("split", ["fold", "split"]), ("dataset", ["dataset"])):
    ours = f"{grain_path(grain)}/{{selector}}"

    rule:
        name:
            "aggregate" if grain == "split" else "aggregate_dataset"
        input:
            marginal=marginals,
            grow=stage("grow"),
            shrink=stage("shrink"),
        output:
            blanket=joined(at("blanket"), grain),
            by_fold=joined(at("folds"), grain),
            answers=joined(at("blankets"), grain),
        log:
            f"<logs>/aggregate/{ours}.log",
        benchmark:
            f"<benchmarks>/aggregate/{ours}.tsv"
        wildcard_constraints:
            dataset=plan.grains.pattern(*grains),
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
