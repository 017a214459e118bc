# Shared by the other files of this folder: wildcards of the plan, and the files of its jobs.
#
# inputs:  the plan, made by plan.smk
# outputs: none
#
# The paths of artefacts are in blanketflow/workflow/layout.py; the rules use its names.

from blanketflow.data.splits import FINAL
from blanketflow.reporting.tables import TABLES
from blanketflow.workflow import job_files
from blanketflow.workflow.grain import any_of, fold_ids
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.layout import IDS


wildcard_constraints:
    **IDS
    | {
        "test": any_of(plan.grains.test_ids),
        "selector": any_of(plan.config.selectors),
        "further": any_of(plan.config.tables),
    },


ENVIRONMENT = "../envs/blanketflow.yaml"
files = JobFiles(plan, "<results>/{}".format)
at = files.at
TABLE = at("table")
TABLE_FILES = [
    at(kind, table=table)
    for table in [*TABLES, *plan.config.tables]
    for kind in ("result_table", "result_table_csv")
]


def sources(wildcards):
    """The files of a data set, which every run requests first."""
    compare()
    return map(source_file, plan.source_files(wildcards.dataset))


def rows(wildcards):
    """What a job of one fold reads of its rows: the table, or counts of them."""
    return files.rows(dict(wildcards))


def splits(wildcards):
    """The splits with the number of folds that a job works on."""
    return files.splits(dict(wildcards))


def marginals(wildcards):
    """The ci_test artefacts that a job of a selector reads; none for methods without a test."""
    return files.marginals(dict(wildcards))


def stage(name):
    """The artefacts of one stage of one selector, split by split and fold by fold."""
    return lambda wildcards: files.of_folds(name, dict(wildcards))


def parts(folds=None):
    """What a job works on, as split/fold, in the order of its outputs; `folds` where its wildcards do not tell."""
    return lambda wildcards: list(map("/".join, files.folds(dict(wildcards), folds)))


def each(names, files_of, key="selector", once=True):
    """What a job reads that does several things on a data set: the files of each, those that several read once."""

    def found(wildcards):
        own = (files_of({"dataset": wildcards.dataset, key: name}) for name in names)
        paths = ([one] if isinstance(one, str) else one for one in own)
        listed = [path for several in paths for path in several]
        return list(dict.fromkeys(listed)) if once else listed

    return found


def splits_of_tests(ids):
    """The splits with each number of folds that a test is done on."""
    numbers = plan.grains.folds_of_tests[ids["dataset"], ids["test"]]
    return [at("splits", dataset=ids["dataset"], folds=str(n)) for n in numbers]


def n_tested(ids):
    """On how many folds a test is done."""
    numbers = plan.grains.folds_of_tests[ids["dataset"], ids["test"]]
    return len(plan.splits(ids["dataset"])) * sum(max(n, 1) for n in numbers)


def of_selectors(pattern, selectors):
    """The paths of what one job makes for several selectors, on all splits."""
    own = (on_all_splits(pattern, selector=s, fold=plan.folds(s)) for s in selectors)
    return kept([path for paths in own for path in paths])


def of_each(text_of, names):
    """What a job is asked for that does several things on a data set."""
    return lambda wildcards: text_of(plan, wildcards.dataset, names)


def resources_of_several(stage, names, n_parts, key="selector", *, rule):
    """What a job asks a scheduler for that does several things; `n_parts` tells of how many parts each is.

    `forced` tells the job that -F or -R asks for its rule: it then makes again what stands, too. It is no parameter,
    since a parameter that changes would start the job again.
    """

    def is_forced(wildcards):
        asked = workflow.dag_settings
        return int(bool(asked and (asked.forceall or rule in asked.forcerun)))

    def asked(wildcards, attempt):
        own = [{"dataset": wildcards.dataset, key: name} for name in names]
        works = [(stage, ids, n_parts(ids)) for ids in own]
        return plan.estimates.resources_of_several(works, attempt)

    return {
        "mem_mb": lambda wildcards, attempt: asked(wildcards, attempt).mem_mb,
        "runtime": lambda wildcards, attempt: asked(wildcards, attempt).runtime,
        "max_memory": lambda wildcards, attempt: asked(wildcards, attempt).max_memory,
        "forced": is_forced,
    }


def resources(stage, n_folds=None):
    """What the jobs of a rule ask a scheduler for, given the number of folds of a split unless the selector tells."""

    def asked(wildcards, attempt):
        ids = dict(wildcards)
        folds = n_folds and list(range(n_folds))
        n_parts = len(files.folds(ids, folds)) if "dataset" in ids else 1
        return plan.estimates.resources(stage, ids, n_parts, attempt)

    return {
        "mem_mb": lambda wildcards, attempt: asked(wildcards, attempt).mem_mb,
        "runtime": lambda wildcards, attempt: asked(wildcards, attempt).runtime,
        "max_memory": lambda wildcards, attempt: asked(wildcards, attempt).max_memory,
    }


def on_all_splits(pattern, **ids):
    """The paths of what one job makes that does all splits; such data sets have the same ones."""
    splits = plan.splits(next(iter(plan.facts)))
    return expand(pattern, split=splits, **ids, allow_missing=True)
