"""Every key of the configuration, declared once as data: checks, JSON schema and the docs table come from it."""

from __future__ import annotations

from typing import Any

from ..ci.effect import MIN_EFFECT
from ..ci.missing import N_COPIES
from ..core.design import WEIGHTS_ARE
from ..core.formats import FORMATS, registered
from ..core.parameters import Parameter
from ..core.prior import KEYS as PRIOR
from ..core.rows import CONFIRM, CONFIRM_SPLITS, FOLD_ROWS, LEAVE_GROUP_OUT, MAX_ROWS
from ..core.seeds import DEFAULT_SEED

#: Every part of a split has jobs of its own, which the plan lists.
MOST_PARTS = 10_000
GRAINS = ("auto", "fold", "split", "dataset")

#: Top-level keys with their defaults.
TOP: dict[str, tuple[Any, Parameter]] = {
    "output": ("results", Parameter("text", "Folder of all results.")),
    "allow_foreign_files": (
        False,
        Parameter("flag", "Whether the folder of results may hold files that blanketflow did not make."),
    ),
    "seed": (
        DEFAULT_SEED,
        Parameter("integer", "Every random number is derived from it.", at_least=0, at_most=2**63 - 1),
    ),
    "datasets": (None, Parameter("any", "Data sets by id.")),
    "splits": ({}, Parameter("any", "Outer partitions: final blanket and honest evaluation.")),
    "folds": (
        5,
        Parameter("integer", "Inner folds whose blankets are aggregated; 0 for none.", at_least=0, at_most=MOST_PARTS),
    ),
    "fold_rows": (
        "train",
        Parameter("choice", "Rows of an inner fold: all but its part, or the part.", choices=FOLD_ROWS),
    ),
    "ci_tests": ({}, Parameter("any", "Configured CI tests by id: a type and its options.")),
    "selectors": (None, Parameter("any", "Configured methods by id: a method and its options.")),
    "aggregate": (
        "best-blanket",
        Parameter("any", "best-blanket, frequency: share, union or intersection."),
    ),
    "models": (
        ["logistic", "ridge", "tree", "svm"],
        Parameter("any", "Models that judge the blankets on test rows; each of its own task."),
    ),
    "metrics": ("auto", Parameter("any", "auto, or a list of metrics.")),
    "tables": (
        {},
        Parameter(
            "any", "Further result tables by id: a type, package.module:Class, and its options: docs/extending.md."
        ),
    ),
    "supplied": (
        [],
        Parameter("any", "Stages from outside: {selector: ..., stage: grow or shrink}, or a list."),
    ),
    "grain": (
        "auto",
        Parameter("choice", "Work of a job: one fold, all folds of a split, all splits of a data set.", choices=GRAINS),
    ),
    "job_seconds": (
        5,
        Parameter("number", "With grain: auto, work is joined into one job while it takes about so long.", above=0),
    ),
    "chunks": (
        None,
        Parameter("integer", "Jobs that test a wide table's features on one fold.", at_least=1, nullable=True),
    ),
}
DATASET: dict[str, tuple[Any, Parameter]] = {
    "source": (
        None,
        Parameter(
            "text",
            "sklearn:<name>, simulate:<name>, network:<name or file>, openml:<number>, or a database: duckdb:<file>, "
            "sqlite:///<file> or a server's URL.",
            nullable=True,
        ),
    ),
    "path": (None, Parameter("text", "A table's file, or the URL of one: docs/sources.md.", nullable=True)),
    "format": (
        None,
        Parameter(
            "choice",
            "The file's format, where content and name do not tell; also one that a package adds (docs/extending.md).",
            choices=tuple(FORMATS),
            nullable=True,
            more=registered,
        ),
    ),
    "header": (
        "names",
        Parameter("choice", "First line of a CSV file; none: columns are x0, x1, ...", choices=("names", "none")),
    ),
    "query": (None, Parameter("text", "SQL whose rows are the table, of databases.", nullable=True)),
    "sha256": (None, Parameter("text", "SHA-256 that the file must have.", nullable=True)),
    "target": (
        None,
        Parameter(
            "text-or-names", "Column to predict, or several, each without the others: docs/targets.md.", nullable=True
        ),
    ),
    "target_path": (None, Parameter("text", "File of an npz table's target.", nullable=True)),
    "task": ("auto", Parameter("choice", "What to predict.", choices=("auto", "classification", "regression"))),
    "drop": ([], Parameter("names", "Columns to leave out.")),
    "categorical": ([], Parameter("names", "Numeric-looking columns that are labels.")),
    **{key: (None, parameter) for key, parameter in PRIOR.items()},
    "groups": (
        None,
        Parameter("text", "Column whose rows stay together in a split, and are clusters to CI tests.", nullable=True),
    ),
    "within": (
        None,
        Parameter("text", "Column within whose values CI tests are made, such as the site; no feature.", nullable=True),
    ),
    "weights": (None, Parameter("text", "Column that says how much each row stands for.", nullable=True)),
    "weights_are": (
        None,
        Parameter(
            "choice",
            "What weights are, needed with them: numbers of equal rows, or sampling weights (docs/rows.md).",
            choices=WEIGHTS_ARE,
            nullable=True,
        ),
    ),
    "max_rows": (None, MAX_ROWS),
    "missing": (
        "impute",
        Parameter(
            "choice",
            "Missing cells: impute on training rows, drop rows, error; pairwise: each CI test uses the rows that are "
            "complete for its columns, and only models see imputed ones (docs/missing.md).",
            choices=("impute", "drop", "error", "pairwise"),
        ),
    ),
    "imputations": (None, N_COPIES),
    "missing_values": (
        None,
        Parameter(
            "texts",
            "Texts that stand for missing cells besides the empty one, in place of the usual ones: docs/sources.md.",
            nullable=True,
        ),
    ),
    "encoding": (
        None,
        Parameter("text", "Of a CSV, Stata, SPSS or SAS file, such as latin-1; found out by default.", nullable=True),
    ),
    "sep": (
        None,
        Parameter("text", 'Sign between the cells of a CSV file, "tab" or " "; found out by default.', nullable=True),
    ),
    "decimal": (
        None,
        Parameter("choice", "Sign before decimals; found out by default.", choices=(".", ","), nullable=True),
    ),
    "thousands": (
        None,
        Parameter("text", "Sign between thousands; found out by default if it is a comma.", nullable=True),
    ),
    "comment": (
        None,
        Parameter("text", "Lines of a CSV file that begin with it are left out, such as #.", nullable=True),
    ),
    "sheet": (
        None,
        Parameter("text", "Sheet of an .xlsx workbook; by default the first that has cells.", nullable=True),
    ),
    "dates": (
        None,
        Parameter(
            "choice",
            "Columns of dates: left out, made days since 1970-01-01, or made year, month, day, weekday and hour; by "
            "default texts of dates are labels, and other dates refused.",
            choices=("drop", "ordinal", "parts"),
            nullable=True,
        ),
    ),
    "rows": (1000, Parameter("integer", "Rows to simulate, of simulate: and network: sources.", at_least=2)),
    "max_memory": (
        None,
        Parameter(
            "size",
            "Tables of Parquet beyond it are kept in temporary files: 2GB, or bytes; by default half of what is free.",
            nullable=True,
        ),
    ),
    "shards": (
        None,
        Parameter(
            "integer",
            "Blocks of rows that separate jobs count, for the searches that need no more than counts: docs/shards.md.",
            at_least=1,
            at_most=1000,
            nullable=True,
        ),
    ),
    "test_rows": (0, Parameter("integer", "Last rows, kept to test on: with evaluation: 1 of splits.", at_least=0)),
}
#: Keys of a data set that are no part of its spec unless they are set: they came later, and must not change results.
ONLY_IF_SET = (
    *("encoding", "sep", "decimal", "thousands", "comment", "sheet", "dates", "weights", "weights_are"),
    *("max_memory", "max_rows", "within", "imputations", "shards"),
    *PRIOR,
)
#: Keys that say how a file is written.
OF_FILES = ("encoding", "sep", "decimal", "thousands", "comment", "sheet")
SPLITS: dict[str, tuple[Any, Parameter]] = {
    "evaluation": (
        5,
        Parameter(
            "integer",
            "Outer folds for the honest estimate; 0: none; 1: test on the test_rows; leave-group-out: each group of "
            "the data set's groups is held out once.",
            at_least=0,
            at_most=MOST_PARTS,
            choices=(LEAVE_GROUP_OUT,),
        ),
    ),
    "repeats": (1, Parameter("integer", "Repetitions of the outer folds.", at_least=1, at_most=1000)),
    "final": (True, Parameter("flag", "Whether to find the final blanket on all rows.")),
    "optimistic": (
        False,
        Parameter("flag", "Whether to judge the final blanket on each split, too, though it has seen the test rows."),
    ),
    "stratify": (True, Parameter("flag", "Whether folds keep the class shares.")),
}
SELECTOR: dict[str, tuple[Any, Parameter]] = {
    "method": (None, Parameter("text", "Method id, or package.module:Class of a scikit-learn selector.")),
    "ci_test": (
        None,
        Parameter(
            "text",
            "Id out of ci_tests, or of a test with its default options; auto: the fastest test that is calibrated for "
            "the data set's columns and rows. Default: the method's own.",
            nullable=True,
        ),
    ),
    "datasets": (None, Parameter("names", "The only data sets that it runs on; null for all.", nullable=True)),
    "min_effect": (None, MIN_EFFECT),
    "confirm": (None, CONFIRM),
    "confirm_splits": (1, CONFIRM_SPLITS),
    **{key: (None, parameter) for key, parameter in PRIOR.items()},
    "folds": (
        None,
        Parameter("integer", "Inner folds of this selector.", at_least=0, at_most=MOST_PARTS, nullable=True),
    ),
    "fold_rows": (None, Parameter("choice", "Rows of its folds.", choices=FOLD_ROWS, nullable=True)),
    "aggregate": (None, Parameter("any", "Its aggregation rule.")),
    "grain": (None, Parameter("choice", "Its job grain.", choices=GRAINS, nullable=True)),
    "time_limit": (
        None,
        Parameter(
            "number",
            "Most seconds of growing, and of shrinking, on one fold; what does not stop is ended some time after.",
            above=0,
            nullable=True,
        ),
    ),
    "max_tests": (
        None,
        Parameter("integer", "Most CI tests of growing, and of shrinking, on one fold.", at_least=1, nullable=True),
    ),
}
