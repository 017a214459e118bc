# What the other files of this folder share: wildcards of the plan, and the paths that depend on it.
#
# inputs:  the plan, made by plan.smk
# outputs: none

from blanketflow.workflow.grain import any_of, fold_ids


wildcard_constraints:
    dataset="[a-z0-9][a-z0-9-]*",
    split="full|cv-[0-9]+",
    folds="[0-9]+",
    fold="0|[0-9]+of[0-9]+",
    chunk="[0-9]+of[0-9]+",
    test=any_of(plan.grains.test_ids),
    selector=any_of(plan.config.selectors),
    paper=any_of(plan.config.printed),


ENVIRONMENT = "../envs/blanketflow.yaml"
TABLE = "<results>/data/{dataset}/table.parquet"
# What each result table holds, as the report says it.
TABLES = {
    "scores": "mean and spread of each metric, by data set, selector and model",
    "blankets": "features of the final blankets, with importance and role",
    "stability": "how much the chosen sets vary over the splits",
    "agreement": "what the final blankets of two selectors have in common",
    "ranks": "mean ranks of the selectors over the data sets",
    "wins": "on how many data sets a selector beats another",
    "optimism": "scores of blankets that have seen the test rows, beside honest ones",
    "friedman": "whether the selectors differ over the data sets",
    "friedman_ranks": "mean ranks over the data sets that the test counts",
    "runtime": "tests and seconds of each selector",
    "truth": "how well the true blankets were found, where they are known",
    "statuses": "how every search and every model ended, with the reason",
}
TABLE_FILES = expand(
    "<results>/tables/{table}.{ending}",
    table=[
        *TABLES,
        *expand("paper_{paper}{of}", paper=plan.config.printed, of=["", "_claims"]),
    ],
    ending=["parquet", "csv"],
)


def splits(wildcards):
    """The splits with the number of folds that a job works on: told by its fold, else by its selector."""
    fold = getattr(wildcards, "fold", None)
    folds = fold.split("of")[-1] if fold else plan.selector(wildcards.selector).folds
    return f"<results>/data/{wildcards.dataset}/splits-{folds}.parquet"


def folds_of(wildcards):
    """The folds that a job works on: one, or all of a split."""
    own = getattr(wildcards, "fold", None)
    return [own] if own else plan.folds(wildcards.selector)


def splits_of(wildcards):
    """The outer splits that a job works on: one, or all of a data set."""
    own = getattr(wildcards, "split", None)
    return [own] if own else plan.splits


def work_of(wildcards, folds=None):
    """What a job works on: split and fold, in the order of its outputs."""
    folds = folds or folds_of(wildcards)
    return [(split, fold) for split in splits_of(wildcards) for fold in folds]


def parts(folds=None):
    """The same as split/fold."""
    return lambda wildcards: list(map("/".join, work_of(wildcards, folds)))


def resources(stage, n_folds=None):
    """What the jobs of a rule ask a scheduler for, given the number of folds of a split unless the selector tells."""

    def asked(wildcards, attempt):
        folds = n_folds or len(folds_of(wildcards))
        n_parts = len(splits_of(wildcards)) * folds
        return plan.estimates.resources(stage, dict(wildcards), n_parts, attempt)

    return {
        "mem_mb": lambda wildcards, attempt: asked(wildcards, attempt).mem_mb,
        "runtime": lambda wildcards, attempt: asked(wildcards, attempt).runtime,
    }


def joined(pattern, grain, **folds):
    """The paths of what one job does: all folds of a split, or of all splits."""
    ids = {"split": plan.splits} if grain == "dataset" else {}
    return expand(pattern, **ids, **folds, allow_missing=True)


def grain_name(grain, n_folds):
    """What tells rules apart that join folds."""
    return f"dataset_{n_folds}" if grain == "dataset" else str(n_folds)


def grain_path(grain):
    """The folder of logs and benchmarks of such rules."""
    return "{dataset}" if grain == "dataset" else "{dataset}/{split}"


def marginals(wildcards):
    """The ci_test artefacts that a job of a selector reads; none for methods without a test."""
    test = plan.test_id(wildcards.selector)
    folder = f"<results>/ci_test/{wildcards.dataset}"
    return [
        f"{folder}/{split}/fold-{fold}/{test}.parquet"
        for split, fold in work_of(wildcards)
        if test
    ]


def stage(name):
    """The artefacts of one stage of one selector, split by split and fold by fold."""

    def paths(wildcards):
        folder = f"<results>/select/{wildcards.dataset}"
        return [
            f"{folder}/{split}/{wildcards.selector}/fold-{fold}/{name}.parquet"
            for split, fold in work_of(wildcards)
        ]

    return paths


def of_pairs(pattern):
    """The paths of a pattern for every pair that is run: on all splits, or on the final one, or without a split."""
    final = [split for split in plan.splits if split == "full"]
    paths = []
    for dataset, selector in plan.pairs:
        ids = {"dataset": dataset, "selector": selector, "fold": plan.folds(selector)}
        paths += expand(pattern, split=plan.splits, final=final, **ids)
    return list(dict.fromkeys(paths))
