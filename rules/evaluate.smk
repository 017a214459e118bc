# Scores of models with each blanket, on rows that selection did not use.
#
# inputs:  table, splits
#          blanket              of each evaluation split; of the final one, with splits: {optimistic: true}
# outputs: evaluate             scores on the test rows
#          evaluate_optimistic  the same for the final blanket


from functools import partial


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
    wildcard_constraints:
        dataset=plan.grains.evaluation_pattern(),
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
    wildcard_constraints:
        dataset=plan.grains.evaluation_pattern(),
    conda:
        ENVIRONMENT
    resources:
        **resources("evaluate", n_folds=1),
    params:
        spec=lambda w: plan.evaluate_spec(w.dataset),
        code=plan.code("evaluate"),
    script:
        "../scripts/evaluate.py"


for scores in plan.scores:
    ours = scores.replace("evaluate", "several_evaluations")

    for number, (selectors, datasets) in enumerate(plan.grains.several_evaluations, 1):

        rule:
            name:
                f"{ours}_{number}"
            input:
                table=TABLE,
                splits=each(selectors, files.splits),
                blankets=each(selectors, partial(files.evaluated, scores), once=False),
            output:
                scores=kept(expand(at(scores), selector=selectors, allow_missing=True)),
            log:
                f"<logs>/{ours}/{{dataset}}/{number}.log",
            benchmark:
                f"<benchmarks>/{ours}/{{dataset}}/{number}.tsv"
            wildcard_constraints:
                dataset=any_of(datasets),
            conda:
                ENVIRONMENT
            resources:
                **resources_of_several(
                    "evaluate",
                    selectors,
                    lambda ids: len(plan.evaluation_splits(ids["dataset"])),
                    rule=f"{ours}_{number}",
                ),
            params:
                folds=[str(plan.selector(name).folds) for name in selectors],
                spec=lambda w: plan.evaluate_spec(w.dataset),
                code=plan.code("evaluate"),
            script:
                "../scripts/several_evaluations.py"
