"""The page of the results: every file of a run with its columns, by the types that the stages write them with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields

from blanketflow.data.artefacts import STATUSES, Provenance
from blanketflow.data.splits import TYPES as SPLIT_TYPES
from blanketflow.models.evaluation import SCORE_TYPES
from blanketflow.models.metrics import METRICS
from blanketflow.reporting.tables.columns import TABLES
from blanketflow.workflow.stages.aggregation import ANSWER_TYPES, BLANKET_TYPES, FOLD_TYPES
from blanketflow.workflow.stages.aggregation import GROUP_TYPES as BLANKET_GROUP_TYPES
from blanketflow.workflow.stages.decisions import GROUP_TYPES, GROW_TYPES, SHRINK_TYPES
from blanketflow.workflow.stages.marginal import MARGINAL_TYPES, REPEAT_TYPES

from .markdown import table


@dataclass(frozen=True)
class Artefact:
    """A Parquet file that a stage writes.

    Parameters
    ----------
    path : str
        Below the folder of results, with wildcards.
    what : str
        What a row is.
    types : mapping of str to str
        Columns with their types.
    sometimes : mapping of str to str
        Columns that some of these files have, and others lack.
    meanings : mapping of str to str
        What columns hold, where `MEANINGS` does not say it.
    """

    path: str
    what: str
    types: Mapping[str, str]
    sometimes: Mapping[str, str]
    meanings: Mapping[str, str]


#: What a column holds, wherever it is.
MEANINGS = {
    "dataset": "id of the data set",
    "selector": "id of the selector",
    "split": "`full`, or `cv-1`, `cv-2`, ...",
    "feature": "name of the feature",
    "role": "`parent_or_child`, `spouse`, or `member` where the method tells no roles",
    "statistic": "effect on the test's own scale; larger is stronger",
    "p_value": "of the test that decided, 0 to 1",
    "log_p": "its natural logarithm, which tells small ones apart where `p_value` is 0",
    "dof": "degrees of freedom; 1 for tests that have none",
    "n": "rows used",
    "reliable": "false where the test's own rule asks for more rows",
    "risk_differences": "`ppi`: what each repeat found, permuted minus original risk",
    "importance": "larger is more important; comparable within one selector only",
    "given": "the conditioning set; null: all others that stood, if 500 or more",
    "group": "methods that form groups: the name of the feature's",
    "order": "place in the order of admission, from 0",
    "step": "place in the order of decisions, from 0",
    "kept": "whether it stays",
    "chosen": "whether it is in the blanket",
    "frequency": "share of the folds that hold it",
    "fold": "id of the fold: `0`, or `1of5`, ...",
    "size": "features in the fold's set",
    "z": "mean frequency of its features over all folds, by which `best-blanket` chooses",
    "n_tests": "CI tests computed",
    "seconds": "wall seconds",
    "blanket": "number of the blanket, from 1",
    "rank": "place in it, from 1: most important first",
    "count": "how often it was found",
    "model": "id of the model",
    "metric": "name of the metric",
    "value": "score on the test rows; null where there is none",
    "n_features": "features that the model saw",
    "status": "one of " + ", ".join(STATUSES),
    "reason": "why the status is not ok",
}
_BLANKET = "select/{dataset}/{split}/{selector}"

ARTEFACTS = (
    Artefact(
        "data/{dataset}/splits.parquet",
        "row of the table and split: whether it trains or tests, and its inner fold",
        SPLIT_TYPES,
        {},
        {
            "row": "row of the table, from 0",
            "part": "`train` or `test`",
            "folds": "number of inner folds K",
            "fold": "inner fold of a training row, from 1; 0 for test rows",
        },
    ),
    Artefact(
        "ci_test/{dataset}/{split}/fold-{fold}/{test}.parquet",
        "feature, tested against the target given nothing",
        MARGINAL_TYPES,
        REPEAT_TYPES,
        {},
    ),
    Artefact(
        _BLANKET + "/fold-{fold}/grow.parquet", "candidate, in the order of admission", GROW_TYPES, GROUP_TYPES, {}
    ),
    Artefact(_BLANKET + "/fold-{fold}/shrink.parquet", "decision on a candidate", SHRINK_TYPES, GROUP_TYPES, {}),
    Artefact(
        _BLANKET + "/blanket.parquet",
        "feature that any fold holds; split `full` is the final blanket",
        BLANKET_TYPES,
        BLANKET_GROUP_TYPES,
        {},
    ),
    Artefact(
        _BLANKET + "/folds.parquet",
        "fold",
        FOLD_TYPES,
        {},
        {"chosen": "whether its set became the blanket"},
    ),
    Artefact(
        _BLANKET + "/blankets.parquet",
        "member of each Markov blanket that was found",
        ANSWER_TYPES,
        {},
        {},
    ),
    Artefact(
        "evaluate/{dataset}/{selector}.parquet",
        "split, model and metric",
        SCORE_TYPES,
        {},
        {
            "status": "ok; undefined: the metric has no value on these rows; error: the model failed; else "
            "that of the search, which found no blanket"
        },
    ),
)

#: What the result tables are about, and what their own columns hold.
TABLE_ROWS = {
    "scores": "data set, selector, model and metric: means over the splits",
    "blankets": "data set, selector and feature of the final blanket",
    "stability": "data set and selector: how much the blankets of the splits agree",
    "ranks": "metric, model and selector: mean rank over the data sets",
    "optimism": "data set, selector, model and metric: what it flatters to select on all rows",
    "runtime": "data set and selector: what the search and the models took",
    "truth": "data set, selector and split: what was found of the true blanket",
    "statuses": "search on a split, and model there: how it ended; and pair that was skipped",
}
TABLE_MEANINGS = {
    "stage": "`select`, `evaluate` with the id of a model, or `plan` for pairs that were skipped",
    "status": f"one of {', '.join(STATUSES)}; undefined: the metric has no value; skipped: the pair was not run",
    "mean": "mean over the evaluation splits",
    "sd": "standard deviation over them",
    "n_splits": "number of them",
    "difference": "mean of the differences to all features, in the metric's unit",
    "honest": "mean score of blankets of the training rows, over the splits that both kinds have",
    "optimistic": "that of the final blanket, which has seen the test rows",
    "best": "whether no selector scored on as many splits has a better mean",
    "n_folds": "inner folds",
    "stability": "Nogueira's index",
    "lower": "lower end of its 95 % interval",
    "upper": "upper end of its 95 % interval",
    "jaccard": "mean Jaccard index of all pairs of blankets",
    "mean_size": "mean number of features",
    "sd_size": "its standard deviation",
    "n_sets": "number of blankets compared",
    "note": "why there is no number",
    "mean_rank": "1 is best",
    "n_datasets": "data sets that the mean is over",
    "selection_seconds": "seconds of the search, all splits",
    "evaluation_seconds": "seconds of the models, all splits",
    "precision": "share of the chosen that are in the true blanket",
    "recall": "share of the true blanket that is chosen",
    "f1": "harmonic mean of both",
    "n_chosen": "features chosen",
    "n_true": "size of the true blanket",
    "n_common": "features in both",
    "pc_precision": "the same for parents and children",
    "pc_recall": "the same for parents and children",
    "pc_f1": "the same for parents and children",
    "n_true_pc": "true parents and children",
    "n_pc": "of them, chosen",
    "n_spouses": "true spouses chosen",
    "n_false": "chosen features outside the true blanket",
}

_OTHERS = {
    "report.html": "one page, opens offline: blankets, scores, charts, failures with reasons, versions",
    "provenance.json": "versions, seed, configuration, platform",
    "figures/*.svg": "the charts of the report",
    "data/{dataset}/card.json": "what the data set is: rows, kinds, target, task with its reason, missing cells, notes",
    "data/{dataset}/table.parquet": "the features in order, then groups if any, then the target. Above 2,000 features "
    "(sparse: 400) a row a feature, so that a job of a wide table reads only what it needs",
    "logs/, benchmarks/": "what each job said, and its seconds and memory as Snakemake measured them",
}


_METADATA = {
    "spec": "canonical JSON of all that was asked for",
    "seed": "the seed that the stage derived its random numbers from",
    "status": MEANINGS["status"],
    "reason": MEANINGS["reason"],
    "n_tests": MEANINGS["n_tests"],
    "seconds": "wall seconds of the stage; no part of what equal results means",
    "version": "of blanketflow",
    "extra": "more facts of this file, as JSON",
}


def results_page() -> str:
    """Return the page."""
    parts = [
        "# Results",
        "A run writes these files below `output` (`results` by default). `{dataset}`, `{selector}` and `{test}` are "
        "ids of the config; `{split}` is `full` (all rows: the final blanket) or `cv-1`, `cv-2`, ... (training rows of "
        "an evaluation split); `{fold}` is `0` without inner folds, else `1of5` to `5of5`.",
        "Parquet files are read by pandas, polars, R's arrow, DuckDB and others: "
        '`pandas.read_parquet("results/tables/scores.parquet")`. No file is a pickle.',
        "## Files",
        table(["file", "holds"], [(f"`{path}`", what) for path, what in _OTHERS.items()]),
        "## Stages",
    ]
    for artefact in ARTEFACTS:
        heading = artefact.path.rpartition("/")[2].removesuffix(".parquet")
        heading = {"{test}": "ci_test", "{selector}": "evaluate"}.get(heading, heading)
        meanings = MEANINGS | artefact.meanings
        parts += [f"### {heading}", f"`{artefact.path}`. One row for each {artefact.what}."]
        parts += [_columns(artefact.types, meanings, artefact.sometimes)]
    parts += [
        "## Tables",
        "Over all data sets, in `tables/`, each as Parquet and CSV. In the CSV files a name that begins with `=`, `+`, "
        "`-` or `@` has an apostrophe before it, since a spreadsheet would compute it, and characters that are not "
        "shown are written as escapes. Parquet holds every name as it is.",
    ]
    for name, types in TABLES.items():
        what = f" One row for each {TABLE_ROWS[name]}." if name in TABLE_ROWS else ""
        parts += [f"### tables/{name}", f"`tables/{name}.parquet`, `tables/{name}.csv`.{what}"]
        parts += [_columns(types, MEANINGS | TABLE_MEANINGS, {})]
    directions = {True: "larger is better", False: "smaller is better"}
    metrics = [(f"`{m.id}`", m.label, m.task, directions[m.higher_is_better]) for m in METRICS.values()]
    parts += ["## Metrics", table(["id", "metric", "task", ""], metrics)]
    metadata = [(f"`{field.name}`", _METADATA[field.name]) for field in fields(Provenance)]
    parts += [
        "## What every file says of itself",
        "Each Parquet file carries, as key-value metadata, how it came about. A failure is never an empty result: "
        "`status` says so. `pyarrow.parquet.read_schema(path).metadata` shows it. Checksums tell damaged files, which "
        "no job reads ([faults](faults.md)); those of JSON files are under their key `checksum`.",
        table(["key", "holds"], metadata),
    ]
    return "\n\n".join(parts) + "\n"


def _columns(types: Mapping[str, str], meanings: Mapping[str, str], sometimes: Mapping[str, str]) -> str:
    rows = [(f"`{name}`", kind, meanings.get(name, "")) for name, kind in types.items()]
    rows += [(f"`{name}`", f"{kind}, not in all", meanings.get(name, "")) for name, kind in sometimes.items()]
    return table(["column", "type", "holds"], rows)
