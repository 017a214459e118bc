# From splits to Markov blankets: ci_test -> grow -> shrink on every fold, then aggregate.
#
# inputs:  <results>/data/{dataset}/table.parquet, splits-{folds}.parquet
# outputs: <results>/ci_test/{dataset}/{split}/fold-{fold}/{test}.parquet
#          <results>/select/{dataset}/{split}/{selector}/fold-{fold}/grow.parquet, shrink.parquet
#          <results>/select/{dataset}/{split}/{selector}/blanket.parquet, folds.parquet, blankets.parquet
#
# Where the plan's grain is `split`, one job does all K folds; where it is `chunk`, several jobs test a wide table's
# features and one gathers their results. These rules stand apart by what {dataset} may be.
#
# ci_test keeps the file of an earlier run until it has written the new one (update), since with other numbers of repeats
# it takes over those that are known.

TABLE = "<results>/data/{dataset}/table.parquet"
MARGINAL = "<results>/ci_test/{dataset}/{split}/fold-{fold}/{test}.parquet"
CHUNK = "<results>/ci_test/{dataset}/{split}/fold-{fold}/{test}.chunk-{chunk}.parquet"
GROW = "<results>/select/{dataset}/{split}/{selector}/fold-{fold}/grow.parquet"
SHRINK = "<results>/select/{dataset}/{split}/{selector}/fold-{fold}/shrink.parquet"


rule ci_test:
    """Test each feature against the target given nothing, on one fold; shared by all selectors of the test."""
    input:
        table=TABLE,
        splits=splits,
    output:
        marginal=update([MARGINAL]),
    log:
        "<logs>/ci_test/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/ci_test/{dataset}/{split}/fold-{fold}/{test}.tsv"
    wildcard_constraints:
        dataset=plan.test_dataset_pattern("fold"),
    conda:
        ENVIRONMENT
    params:
        folds=lambda w: [w.fold],
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("ci_test", test=w.test),
    script:
        "../scripts/ci_test.py"


for K in plan.grouped_test_folds:

    rule:
        name:
            f"ci_test_{K}"
        input:
            table=TABLE,
            splits=f"<results>/data/{{dataset}}/splits-{K}.parquet",
        output:
            marginal=update(expand(MARGINAL, fold=plan.fold_ids(K), allow_missing=True)),
        log:
            f"<logs>/ci_test/{{dataset}}/{{split}}/folds-{K}/{{test}}.log",
        benchmark:
            f"<benchmarks>/ci_test/{{dataset}}/{{split}}/folds-{K}/{{test}}.tsv"
        wildcard_constraints:
            dataset=plan.test_dataset_pattern("split"),
        conda:
            ENVIRONMENT
        params:
            folds=plan.fold_ids(K),
            spec=lambda w: plan.test_spec(w.dataset, w.test),
            code=lambda w: plan.code("ci_test", test=w.test),
        script:
            "../scripts/ci_test.py"


rule ci_test_chunk:
    """Do the same for a chunk of a wide table's features."""
    input:
        table=TABLE,
        splits=splits,
    output:
        marginal=temp([CHUNK]),
    log:
        "<logs>/ci_test/{dataset}/{split}/fold-{fold}/{test}.chunk-{chunk}.log",
    benchmark:
        "<benchmarks>/ci_test/{dataset}/{split}/fold-{fold}/{test}.chunk-{chunk}.tsv"
    wildcard_constraints:
        dataset=plan.test_dataset_pattern("chunk"),
    conda:
        ENVIRONMENT
    params:
        folds=lambda w: [w.fold],
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("ci_test", test=w.test),
    script:
        "../scripts/ci_test.py"


rule gather_ci_test:
    """Put the results of all chunks into the artefact that the rule ci_test would write."""
    input:
        table=TABLE,
        splits=splits,
        chunks=lambda w: expand(
            CHUNK, chunk=plan.chunks(w.dataset, w.test), allow_missing=True
        ),
    output:
        marginal=MARGINAL,
    log:
        "<logs>/gather_ci_test/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/gather_ci_test/{dataset}/{split}/fold-{fold}/{test}.tsv"
    wildcard_constraints:
        dataset=plan.test_dataset_pattern("chunk"),
    conda:
        ENVIRONMENT
    params:
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("gather_ci_test", test=w.test),
    script:
        "../scripts/gather_ci_test.py"


rule grow:
    """Admit candidates on one fold."""
    input:
        table=TABLE,
        splits=splits,
        marginal=marginals,
    output:
        grow=GROW,
    log:
        "<logs>/grow/{dataset}/{split}/{selector}/fold-{fold}.log",
    benchmark:
        "<benchmarks>/grow/{dataset}/{split}/{selector}/fold-{fold}.tsv"
    wildcard_constraints:
        dataset=plan.dataset_pattern("fold"),
    conda:
        ENVIRONMENT
    params:
        spec=lambda w: plan.method_spec(w.dataset, w.selector),
        code=lambda w: plan.code("grow", selector=w.selector),
    script:
        "../scripts/grow.py"


rule shrink:
    """Remove false positives on one fold."""
    input:
        table=TABLE,
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
        dataset=plan.dataset_pattern("fold"),
    conda:
        ENVIRONMENT
    params:
        spec=lambda w: plan.method_spec(w.dataset, w.selector),
        code=lambda w: plan.code("shrink", selector=w.selector),
    script:
        "../scripts/shrink.py"


for K in plan.grouped_folds:

    rule:
        name:
            f"grow_shrink_{K}"
        input:
            table=TABLE,
            splits=splits,
            marginal=marginals,
        output:
            grow=expand(GROW, fold=plan.fold_ids(K), allow_missing=True),
            shrink=expand(SHRINK, fold=plan.fold_ids(K), allow_missing=True),
        log:
            f"<logs>/grow_shrink/{{dataset}}/{{split}}/{{selector}}/folds-{K}.log",
        benchmark:
            f"<benchmarks>/grow_shrink/{{dataset}}/{{split}}/{{selector}}/folds-{K}.tsv"
        wildcard_constraints:
            dataset=plan.dataset_pattern("split", K),
        conda:
            ENVIRONMENT
        params:
            folds=plan.fold_ids(K),
            spec=lambda w: plan.method_spec(w.dataset, w.selector),
            code=lambda w: plan.code("grow_shrink", selector=w.selector),
        script:
            "../scripts/grow_shrink.py"


rule aggregate:
    """Combine the folds' sets into the blanket of a split."""
    input:
        marginal=marginals,
        grow=stage("grow"),
        shrink=stage("shrink"),
    output:
        blanket="<results>/select/{dataset}/{split}/{selector}/blanket.parquet",
        by_fold="<results>/select/{dataset}/{split}/{selector}/folds.parquet",
        answers="<results>/select/{dataset}/{split}/{selector}/blankets.parquet",
    log:
        "<logs>/aggregate/{dataset}/{split}/{selector}.log",
    benchmark:
        "<benchmarks>/aggregate/{dataset}/{split}/{selector}.tsv"
    conda:
        ENVIRONMENT
    params:
        folds=lambda w: plan.folds(w.selector),
        spec=lambda w: plan.aggregate_spec(w.selector),
        code=plan.code("aggregate"),
    script:
        "../scripts/aggregate.py"
