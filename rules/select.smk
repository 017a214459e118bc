# From splits to candidates and their Markov blanket on every fold: grow -> shrink.
#
# inputs:  table, or counts of a data set with shards; splits, ci_test
# outputs: grow, shrink               of each fold
#          blanket, folds, blankets   of several selectors; aggregate.smk makes the others
#
# rule                     one job does                                                   of
# grow, shrink             one phase on one fold                                          large tables, long searches
# grow_shrink_K            both on the K folds of a split
# grow_shrink_dataset_K    both on the K folds of every split
# several_selectors_N      all of it, with aggregate, for several selectors               small tables, short searches
#
# The plan assigns each pair of data set and selector to one of these rows (blanketflow/workflow/grain.py) by the
# wildcard_constraints of {dataset}. `snakemake -n --quiet rules` counts the jobs of each rule.

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


# One job for the K folds of a split, as grow_shrink_5. A rule lists its outputs, so each K of the config has a rule.
for K in plan.grains.searched_folds("split"):

    rule:
        name:
            f"grow_shrink_{K}"
        input:
            table=TABLE,
            splits=splits,
            marginal=marginals,
        output:
            grow=expand(GROW, fold=fold_ids(K), allow_missing=True),
            shrink=expand(SHRINK, fold=fold_ids(K), allow_missing=True),
        log:
            f"<logs>/grow_shrink/{{dataset}}/{{split}}/{{selector}}/folds-{K}.log",
        benchmark:
            f"<benchmarks>/grow_shrink/{{dataset}}/{{split}}/{{selector}}/folds-{K}.tsv"
        wildcard_constraints:
            dataset=plan.grains.pattern("split", n_folds=K),
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


# One job for the K folds of all splits of a data set, as grow_shrink_dataset_5.
for K in plan.grains.searched_folds("dataset"):

    rule:
        name:
            f"grow_shrink_dataset_{K}"
        input:
            table=TABLE,
            splits=splits,
            marginal=marginals,
        output:
            grow=on_all_splits(GROW, fold=fold_ids(K)),
            shrink=on_all_splits(SHRINK, fold=fold_ids(K)),
        log:
            f"<logs>/grow_shrink/{{dataset}}/{{selector}}/folds-{K}.log",
        benchmark:
            f"<benchmarks>/grow_shrink/{{dataset}}/{{selector}}/folds-{K}.tsv"
        wildcard_constraints:
            dataset=plan.grains.pattern("dataset", n_folds=K),
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
