# Each feature against the target given nothing, on every fold; selectors that name the same CI test share the results.
#
# inputs:  table, or counts of a data set with shards; splits
# outputs: ci_test
#
# By the plan's grain one job does a fold (ci_test), all K folds of a split (ci_test_K), those of all splits
# (ci_test_dataset_K), of several tests (several_tests), or a chunk of a wide table's features, and one gathers the
# chunks (gather_ci_test). These rules stand apart by what {dataset} may be.
#
# The file of an earlier run is kept until the new one is written (kept), since with other numbers of repeats those
# that are known are taken over.

MARGINAL = at("ci_test")
CHUNK = at("ci_test_chunk")


rule ci_test:
    """Test each feature against the target given nothing, on one fold; shared by all selectors of the test."""
    input:
        table=rows,
        splits=splits,
    output:
        marginal=kept([MARGINAL]),
    log:
        "<logs>/ci_test/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/ci_test/{dataset}/{split}/fold-{fold}/{test}.tsv"
    wildcard_constraints:
        dataset=plan.grains.test_pattern("fold"),
    conda:
        ENVIRONMENT
    resources:
        **resources("ci_test"),
    params:
        folds=parts(),
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("ci_test", test=w.test),
    script:
        "../scripts/ci_test.py"


for grain, K in plan.grains.joined_tests:
    ours = f"{grain_path(grain)}/folds-{K}/{{test}}"

    rule:
        name:
            f"ci_test_{grain_name(grain, K)}"
        input:
            table=TABLE,
            splits=at("splits", folds=K),
        output:
            marginal=kept(joined(MARGINAL, grain, fold=fold_ids(K))),
        log:
            f"<logs>/ci_test/{ours}.log",
        benchmark:
            f"<benchmarks>/ci_test/{ours}.tsv"
        wildcard_constraints:
            dataset=plan.grains.test_pattern(grain),
        conda:
            ENVIRONMENT
        resources:
            **resources("ci_test", n_folds=max(K, 1)),
        params:
            folds=parts(fold_ids(K)),
            spec=lambda w: plan.test_spec(w.dataset, w.test),
            code=lambda w: plan.code("ci_test", test=w.test),
        script:
            "../scripts/ci_test.py"


for number, (tests, datasets) in enumerate(plan.grains.several_tests, 1):

    rule:
        name:
            f"several_tests_{number}"
        input:
            table=TABLE,
            splits=each(tests, splits_of_tests, "test"),
        output:
            marginal=kept(
                [
                    path
                    for test in tests
                    for K in sorted(plan.grains.folds_of_tests[datasets[0], test])
                    for path in joined(
                        MARGINAL, "dataset", test=test, fold=fold_ids(K)
                    )
                ]
            ),
        log:
            f"<logs>/several_tests/{{dataset}}/{number}.log",
        benchmark:
            f"<benchmarks>/several_tests/{{dataset}}/{number}.tsv"
        wildcard_constraints:
            dataset=any_of(datasets),
        conda:
            ENVIRONMENT
        resources:
            **resources_of_several(
                "ci_test", tests, n_tested, "test", rule=f"several_tests_{number}"
            ),
        params:
            spec=of_each(job_files.tests_spec, tests),
            code=job_files.tests_code(plan, tests),
        script:
            "../scripts/several_tests.py"


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
        dataset=plan.grains.test_pattern("chunk"),
    conda:
        ENVIRONMENT
    resources:
        **resources("ci_test_chunk"),
    params:
        folds=parts(),
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
            CHUNK, chunk=plan.grains.chunks(w.dataset, w.test), allow_missing=True
        ),
    output:
        marginal=MARGINAL,
    log:
        "<logs>/gather_ci_test/{dataset}/{split}/fold-{fold}/{test}.log",
    benchmark:
        "<benchmarks>/gather_ci_test/{dataset}/{split}/fold-{fold}/{test}.tsv"
    wildcard_constraints:
        dataset=plan.grains.test_pattern("chunk"),
    conda:
        ENVIRONMENT
    resources:
        **resources("gather_ci_test"),
    params:
        spec=lambda w: plan.test_spec(w.dataset, w.test),
        code=lambda w: plan.code("ci_test", test=w.test),
    script:
        "../scripts/gather_ci_test.py"
