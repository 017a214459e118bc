# Each feature against the target, unconditionally, on every fold; selectors with the same CI test share the results.
#
# inputs:  table, or counts of a data set with shards; splits
# outputs: ci_test
#
# rule                             one job tests all features                      of
# ci_test_chunk, gather_ci_test    a chunk of them on one fold, and gathers chunks  wide tables
# ci_test                          on one fold                                     large tables, long tests
# ci_test_K                        on the K folds of a split
# ci_test_dataset_K                on the K folds of every split
# several_tests_N                  on all folds, by several tests                  small tables, short tests
#
# The plan assigns each pair of data set and test to one of these rows (blanketflow/workflow/grain.py) by the
# wildcard_constraints of {dataset}. `snakemake -n --quiet rules` counts the jobs of each rule.
#
# The file of an earlier run is kept until the new one is written (kept), because known repeats are reused.

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


# One job for the K folds of a split, as ci_test_5. A rule lists its outputs, so each K of the config has a rule.
for K in plan.grains.tested_folds("split"):

    rule:
        name:
            f"ci_test_{K}"
        input:
            table=TABLE,
            splits=at("splits", folds=K),
        output:
            marginal=kept(expand(MARGINAL, fold=fold_ids(K), allow_missing=True)),
        log:
            f"<logs>/ci_test/{{dataset}}/{{split}}/folds-{K}/{{test}}.log",
        benchmark:
            f"<benchmarks>/ci_test/{{dataset}}/{{split}}/folds-{K}/{{test}}.tsv"
        wildcard_constraints:
            dataset=plan.grains.test_pattern("split"),
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


# One job for the K folds of all splits of a data set, as ci_test_dataset_5.
for K in plan.grains.tested_folds("dataset"):

    rule:
        name:
            f"ci_test_dataset_{K}"
        input:
            table=TABLE,
            splits=at("splits", folds=K),
        output:
            marginal=kept(on_all_splits(MARGINAL, fold=fold_ids(K))),
        log:
            f"<logs>/ci_test/{{dataset}}/folds-{K}/{{test}}.log",
        benchmark:
            f"<benchmarks>/ci_test/{{dataset}}/folds-{K}/{{test}}.tsv"
        wildcard_constraints:
            dataset=plan.grains.test_pattern("dataset"),
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
                    for path in on_all_splits(MARGINAL, test=test, fold=fold_ids(K))
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
