# What the other files of this folder share: wildcards of the plan, and the paths that depend on it.
#
# inputs:  the plan, made by the Snakefile
# outputs: none


wildcard_constraints:
    dataset="[a-z0-9][a-z0-9-]*",
    split="full|cv-[0-9]+",
    folds="[0-9]+",
    fold="0|[0-9]+of[0-9]+",
    chunk="[0-9]+of[0-9]+",
    test="[a-z0-9][a-z0-9-]*",
    selector="[a-z0-9][a-z0-9-]*",


ENVIRONMENT = "../envs/blanketflow.yaml"
TABLES = ["scores", "blankets", "stability", "ranks", "runtime", "truth"]


def splits(wildcards):
    """The splits with the number of folds that a job works on: told by its fold, else by its selector."""
    fold = getattr(wildcards, "fold", None)
    folds = fold.split("of")[-1] if fold else plan.selector(wildcards.selector).folds
    return f"<results>/data/{wildcards.dataset}/splits-{folds}.parquet"


def marginals(wildcards):
    """The ci_test artefacts of one selector and split, fold by fold; none for methods without a test."""
    test = plan.test_id(wildcards.selector)
    folds = (
        [wildcards.fold]
        if hasattr(wildcards, "fold")
        else plan.folds(wildcards.selector)
    )
    return expand(
        "<results>/ci_test/{dataset}/{split}/fold-{fold}/{test}.parquet",
        dataset=wildcards.dataset,
        split=wildcards.split,
        fold=folds,
        test=[test] if test else [],
    )


def stage(name):
    """The artefacts of one stage of one selector and split, fold by fold."""

    def paths(wildcards):
        return expand(
            "<results>/select/{dataset}/{split}/{selector}/fold-{fold}/{name}.parquet",
            dataset=wildcards.dataset,
            split=wildcards.split,
            selector=wildcards.selector,
            fold=plan.folds(wildcards.selector),
            name=name,
        )

    return paths


def of_pairs(pattern):
    """The paths of a pattern for every pair that is run: on all splits, or on the final one, or without a split."""
    final = [split for split in plan.splits if split == "full"]
    paths = []
    for dataset, selector in plan.pairs:
        ids = {"dataset": dataset, "selector": selector, "fold": plan.folds(selector)}
        paths += expand(pattern, split=plan.splits, final=final, **ids)
    return list(dict.fromkeys(paths))
