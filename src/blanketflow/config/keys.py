"""Every key of the configuration; the source of the checks, the JSON schema and docs/config.md."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..ci.effect import MIN_EFFECT
from ..ci.missing import N_COPIES
from ..core.cards import TARGET_KINDS
from ..core.formats import FORMATS, registered
from ..core.parameters import Parameter
from ..core.prior import KEYS as PRIOR
from ..core.rows import CONFIRM, CONFIRM_SPLITS, FOLD_ROWS, FORWARD, LEAVE_GROUP_OUT, MAX_ROWS
from ..core.seeds import DEFAULT_SEED
from ..core.table import WEIGHTS_ARE
from ..models import DEFAULT_MODELS

#: Limited because the plan lists the jobs of every part of a split.
MOST_PARTS = 10_000
GRAINS = ("auto", "fold", "split", "dataset")

#: Top-level keys with their defaults.
TOP: dict[str, tuple[Any, Parameter]] = {
    "output": ("results", Parameter("text", "Folder for all results.")),
    "allow_foreign_files": (
        False,
        Parameter("flag", "Whether the output folder may contain files that blanketflow did not write."),
    ),
    "seed": (DEFAULT_SEED, Parameter("integer", "Seed of all random numbers.", at_least=0, at_most=2**63 - 1)),
    "datasets": (None, Parameter("any", "Data sets by id.")),
    "splits": ({}, Parameter("any", "Outer splits: the final blanket on all rows, and evaluation on held-out rows.")),
    "folds": (
        5,
        Parameter(
            "integer",
            "Number of inner folds whose blankets are aggregated; 0: one search on all training rows.",
            at_least=0,
            at_most=MOST_PARTS,
        ),
    ),
    "fold_rows": (
        "train",
        Parameter(
            "choice",
            "Rows that an inner fold searches: all except one part (train), or only that part (part).",
            choices=FOLD_ROWS,
        ),
    ),
    "ci_tests": ({}, Parameter("any", "CI tests by id, each with a type and its options.")),
    "selectors": (None, Parameter("any", "Selectors by id, each with a method and its options.")),
    "aggregate": (
        "best-blanket",
        Parameter(
            "any",
            "How the blankets of the folds are combined: best-blanket, {frequency: share}, union or intersection.",
        ),
    ),
    "models": (
        [*DEFAULT_MODELS],
        Parameter("any", "Models that score the blankets on test rows. Models of another task are skipped."),
    ),
    "metrics": ("auto", Parameter("any", "Metrics of the scores: auto for all metrics of the task, or a list.")),
    "tables": (
        {},
        Parameter(
            "any",
            "Additional result tables by id: a type, package.module:Class, and its options; see docs/extending.md.",
        ),
    ),
    "supplied": (
        [],
        Parameter(
            "any", "Stages whose results you supply: {selector: ..., stage: grow or shrink}, or a list of these."
        ),
    ),
    "grain": (
        "auto",
        Parameter(
            "choice", "What one job does: one fold, all folds of a split, or all splits of a data set.", choices=GRAINS
        ),
    ),
    "job_seconds": (
        5,
        Parameter("number", "With grain: auto, the approximate seconds of work that are put into one job.", above=0),
    ),
    "chunks": (
        None,
        Parameter(
            "integer",
            "Number of jobs that share the marginal tests of one fold; for wide tables.",
            at_least=1,
            nullable=True,
        ),
    ),
}
DATASET: dict[str, tuple[Any, Parameter]] = {
    "source": (
        None,
        Parameter(
            "text",
            "sklearn:<name>, simulate:<name>, network:<name or file>, openml:<number>, or a database: duckdb:<file>, "
            "sqlite:///<file> or the URL of a server.",
            nullable=True,
        ),
    ),
    "path": (None, Parameter("text", "File or URL of a table; see docs/sources.md.", nullable=True)),
    "format": (
        None,
        Parameter(
            "choice",
            "File format; by default detected from content and name. Packages can add formats (docs/extending.md).",
            choices=tuple(FORMATS),
            nullable=True,
            more=registered,
        ),
    ),
    "header": (
        "names",
        Parameter(
            "choice",
            "First line of a CSV file or sheet: names of columns, unless it plainly is a row of values, which is told; "
            "numbers: names, though they are numbers; none: columns are x0, x1, ...",
            choices=("names", "none", "numbers"),
        ),
    ),
    "query": (None, Parameter("text", "SQL query that returns the table; for databases.", nullable=True)),
    "sha256": (None, Parameter("text", "Expected SHA-256 of the file.", nullable=True)),
    "target": (
        None,
        Parameter(
            "target",
            "Column to predict, or a list of columns. Each target is searched without the others; see docs/targets.md. "
            "Times to an event are {time: COLUMN, event: COLUMN}, with entry, strata or cause; counts may be "
            "{count: COLUMN, exposure: COLUMN}. {joint: [COLUMN, COLUMN]} is one target of the combinations of labels.",
            nullable=True,
        ),
    ),
    "target_kind": (
        None,
        Parameter(
            "choice",
            "What the target is, if it is neither classes nor plain numbers: it has its own tests, models and metrics; "
            "or a class of yours, module:Class (docs/extending.md).",
            choices=TARGET_KINDS,
            nullable=True,
            more=tuple,  # no package registers kinds
        ),
    ),
    "target_path": (None, Parameter("text", "File with the target of an npz table.", nullable=True)),
    "task": (
        "auto",
        Parameter(
            "choice", "Task; auto: from the type of the target.", choices=("auto", "classification", "regression")
        ),
    ),
    "drop": ([], Parameter("names", "Columns to leave out.")),
    "categorical": ([], Parameter("names", "Numeric columns to treat as categorical.")),
    **{key: (None, parameter) for key, parameter in PRIOR.items()},
    "feature_groups": (
        None,
        replace(
            PRIOR["feature_groups"],
            kind="groups-or-gmt",
            doc="Features that come into the answer and stay out of it together: {name: [features]}; prefix* as in "
            "include; or gene sets: sets.gmt, or {gmt: sets.gmt, sets: [names]}.",
        ),
    ),
    "groups": (
        None,
        Parameter(
            "text",
            "Column of groups. Rows of a group stay in one part of a split, except of forward ones, and CI tests treat "
            "groups as clusters.",
            nullable=True,
        ),
    ),
    "within": (
        None,
        Parameter(
            "text",
            "Column of strata, such as the site. CI tests are made within strata; the column is not a feature.",
            nullable=True,
        ),
    ),
    "time": (
        None,
        Parameter(
            "text",
            "Column with the time of each row, if it is another than that of splits: {evaluation: forward, time: ...}.",
            nullable=True,
        ),
    ),
    "weights": (None, Parameter("text", "Column of row weights.", nullable=True)),
    "weights_are": (
        None,
        Parameter(
            "choice",
            "Type of the weights; required with weights. Numbers of equal rows, or sampling weights (docs/rows.md).",
            choices=WEIGHTS_ARE,
            nullable=True,
        ),
    ),
    "max_rows": (None, MAX_ROWS),
    "missing": (
        "impute",
        Parameter(
            "choice",
            "How missing cells are handled. impute: from training rows; drop: drop the rows; error: stop; pairwise: "
            "each CI test uses the rows that are complete in its columns, and only models use imputed cells "
            "(docs/missing.md).",
            choices=("impute", "drop", "error", "pairwise"),
        ),
    ),
    "imputations": (None, N_COPIES),
    "missing_values": (
        None,
        Parameter(
            "texts",
            "Texts that mean a missing cell, besides the empty text. Replaces the default list; see docs/sources.md.",
            nullable=True,
        ),
    ),
    "more_missing_values": (
        None,
        Parameter(
            "texts-by-name",
            "Texts and numbers that mean a missing cell, besides the default list, in all columns or by column, "
            "{name: [texts]}; [] if there are no others: docs/sources.md.",
            nullable=True,
        ),
    ),
    "below_detection": (
        None,
        Parameter(
            "choice-by-name",
            "What stands in for cells such as <0.6 among numbers, in all columns or by column: half of the limit, the "
            "limit, zero, a missing cell, or the limit and an indicator column; refused by default: docs/sources.md.",
            choices=("half", "limit", "zero", "missing", "indicator"),
            nullable=True,
        ),
    ),
    "above_detection": (
        None,
        Parameter(
            "choice-by-name",
            "The same for cells such as >1000.",
            choices=("half", "limit", "zero", "missing", "indicator"),
            nullable=True,
        ),
    ),
    "infinite": (
        None,
        Parameter(
            "choice",
            "Infinite cells: an error, as by default, or missing.",
            choices=("missing", "error"),
            nullable=True,
        ),
    ),
    "similar_labels": (
        None,
        Parameter(
            "choice",
            "Labels that look alike: an error, merged, or kept apart. By default those of different characters that "
            "look the same are an error, and those that differ in case or blanks are kept and named.",
            choices=("error", "merge", "keep"),
            nullable=True,
        ),
    ),
    "encoding": (
        None,
        Parameter(
            "text", "Encoding of a CSV, Stata, SPSS or SAS file, such as latin-1; detected by default.", nullable=True
        ),
    ),
    "sep": (
        None,
        Parameter(
            "text", 'Column separator of a CSV file, such as ";", "tab" or " "; detected by default.', nullable=True
        ),
    ),
    "decimal": (
        None,
        Parameter("choice", "Decimal separator; detected by default.", choices=(".", ","), nullable=True),
    ),
    "thousands": (None, Parameter("text", "Thousands separator; by default only a comma is detected.", nullable=True)),
    "comment": (
        None,
        Parameter(
            "text", "Comment character of a CSV file, such as #. Lines that begin with it are skipped.", nullable=True
        ),
    ),
    "quote": (
        None,
        Parameter(
            "choice",
            'Sign around cells of a CSV file, " by default; none: quotes are signs like others.',
            choices=("none", '"', "'"),
            nullable=True,
        ),
    ),
    "skip_rows": (
        None,
        Parameter(
            "integer",
            "Rows (lines of a CSV file) above the header to leave out; found out by default where it is plain.",
            at_least=0,
            nullable=True,
        ),
    ),
    "header_row": (
        None,
        Parameter(
            "row-or-two",
            "Number of the row (line of a CSV file) with the names, from 1, in place of skip_rows. Names in two "
            "rows, as in [1, 2], are joined; merged cells of the upper row reach to the right.",
            nullable=True,
        ),
    ),
    "units_row": (
        None,
        Parameter(
            "integer",
            "Number of a row below the header with units, which is left out; 0: there is none; found out by default "
            "where it is plain.",
            at_least=0,
            nullable=True,
        ),
    ),
    "duplicate_names": (
        None,
        Parameter(
            "choice",
            "Names of columns that occur more than once: an error, which is the default, or numbered, as in a, a_2.",
            choices=("error", "number"),
            nullable=True,
        ),
    ),
    "rename": (
        None,
        Parameter("any", "New names of columns by their number, from 1, such as {4: weight}.", nullable=True),
    ),
    "orient": (
        None,
        Parameter(
            "choice",
            "features-in-rows: each row is a feature and each column a sample (docs/series-matrix.md).",
            choices=("samples-in-rows", "features-in-rows"),
            nullable=True,
        ),
    ),
    "feature_names": (
        None,
        Parameter(
            "text",
            "With orient: features-in-rows, the column that names the features; by default the first.",
            nullable=True,
        ),
    ),
    "labels": (
        None,
        Parameter(
            "any",
            "A table of the samples that is joined by their ids: {path: ..., by: COLUMN, target: COLUMN}; further "
            "columns of it are features if columns lists them (docs/sources.md).",
            nullable=True,
        ),
    ),
    "sheet": (
        None,
        Parameter("text", "Sheet of a workbook; by default the first sheet with cells.", nullable=True),
    ),
    "member": (
        None,
        Parameter(
            "text",
            "The table of a file with several: a file of a .zip archive, an object of an .RData file, the matrix of a "
            ".mat file, or a layer of an .h5ad file.",
            nullable=True,
        ),
    ),
    "dates": (
        None,
        Parameter(
            "choice",
            "How date columns are handled. drop: left out; ordinal: days since 1970-01-01; parts: year, month, day, "
            "weekday and hour. By default, dates as text are labels, and date types are an error.",
            choices=("drop", "ordinal", "parts"),
            nullable=True,
        ),
    ),
    "rows": (1000, Parameter("integer", "Number of rows to simulate; for simulate: and network: sources.", at_least=2)),
    "max_memory": (
        None,
        Parameter(
            "size",
            "Larger Parquet tables are kept in temporary files. Bytes, or a size such as 2GB; default: half of the "
            "free memory.",
            nullable=True,
        ),
    ),
    "shards": (
        None,
        Parameter(
            "integer",
            "Number of row blocks counted in separate jobs, for searches that need only counts (docs/shards.md).",
            at_least=1,
            at_most=1000,
            nullable=True,
        ),
    ),
    "test_rows": (
        0,
        Parameter("integer", "Number of last rows that are test rows; with splits: {evaluation: 1}.", at_least=0),
    ),
}
#: Keys of splits that count only with `FORWARD`, and enter specs only then.
OF_FORWARD = ("parts", "time", "gap")
#: Keys that enter the spec of a data set only if set, so that older results stay valid.
ONLY_IF_SET = (
    *("encoding", "sep", "decimal", "thousands", "comment", "sheet", "dates", "weights", "weights_are"),
    *("member", "more_missing_values", "below_detection", "above_detection", "infinite", "similar_labels"),
    *("max_memory", "max_rows", "within", "time", "imputations", "shards"),
    *("quote", "skip_rows", "header_row", "units_row", "duplicate_names", "rename"),
    *("orient", "feature_names", "labels", "target_kind"),
    *PRIOR,
)
#: Keys that the key `target` sets if it is a mapping.
OF_TARGET = ("target_parts", "target_options")
#: Keys that say how a file is written.
OF_FILES = (
    *("encoding", "sep", "quote", "decimal", "thousands", "comment", "sheet", "member"),
    *("skip_rows", "header_row", "units_row", "duplicate_names", "rename", "orient", "feature_names", "labels"),
)
SPLITS: dict[str, tuple[Any, Parameter]] = {
    "evaluation": (
        5,
        Parameter(
            "integer",
            "Number of outer folds of the evaluation. 0: none; 1: one split, tested on test_rows; leave-group-out: "
            "each group of the data set is held out once; forward: each period of time is tested on once, by what the "
            "periods before it teach.",
            at_least=0,
            at_most=MOST_PARTS,
            choices=(LEAVE_GROUP_OUT, FORWARD),
        ),
    ),
    "parts": (
        5,
        Parameter("integer", "Forward: number of periods, of about equally many rows.", at_least=2, at_most=MOST_PARTS),
    ),
    "time": (
        None,
        Parameter("text", "Forward: column with the time of each row, numbers or dates; no feature.", nullable=True),
    ),
    "gap": (
        0,
        Parameter(
            "number",
            "Forward: time before the test rows that is left out of the training rows: days for dates, else the "
            "column's units.",
            at_least=0,
        ),
    ),
    "repeats": (1, Parameter("integer", "Repetitions of the outer folds.", at_least=1, at_most=1000)),
    "final": (True, Parameter("flag", "Whether to find the final blanket on all rows.")),
    "optimistic": (
        False,
        Parameter(
            "flag",
            "Whether to score the final blanket on each split too. Its search used the test rows: scores are too high.",
        ),
    ),
    "stratify": (True, Parameter("flag", "Whether folds preserve the class proportions.")),
}
SELECTOR: dict[str, tuple[Any, Parameter]] = {
    "method": (None, Parameter("text", "Id of a method, or package.module:Class of a scikit-learn selector.")),
    "ci_test": (
        None,
        Parameter(
            "text",
            "Id from ci_tests, or id of a test with its default options. auto: the fastest test that is calibrated "
            "for the columns and rows of the data set. Default: the default test of the method.",
            nullable=True,
        ),
    ),
    "datasets": (None, Parameter("names", "Data sets that the selector runs on; null: all.", nullable=True)),
    "min_effect": (None, MIN_EFFECT),
    "confirm": (None, CONFIRM),
    "confirm_splits": (1, CONFIRM_SPLITS),
    **{key: (None, parameter) for key, parameter in PRIOR.items()},
    "folds": (
        None,
        Parameter("integer", "Number of inner folds of this selector.", at_least=0, at_most=MOST_PARTS, nullable=True),
    ),
    "fold_rows": (None, Parameter("choice", "fold_rows of this selector.", choices=FOLD_ROWS, nullable=True)),
    "aggregate": (None, Parameter("any", "aggregate of this selector.")),
    "grain": (None, Parameter("choice", "grain of this selector.", choices=GRAINS, nullable=True)),
    "time_limit": (
        None,
        Parameter(
            "number",
            "Time limit in seconds for each of grow and shrink on one fold. A job that does not stop is ended later.",
            above=0,
            nullable=True,
        ),
    ),
    "max_tests": (
        None,
        Parameter(
            "integer", "Largest number of CI tests for each of grow and shrink on one fold.", at_least=1, nullable=True
        ),
    ),
}
