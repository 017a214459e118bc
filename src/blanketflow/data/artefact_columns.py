"""The columns of every artefact: type, meaning and unit. Writers, the documentation and the result tables use them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import NamedTuple

from .provenance import STATUSES

#: The type of a list of features with a share of information and its interval.
STAND_INS = "list<struct<feature: string, share: double, low: double, high: double>>"


class Column(NamedTuple):
    """A column: Arrow's name of its type (as `write_columns` takes it), its meaning, and its unit, if it has one."""

    type: str
    meaning: str
    unit: str = ""


@dataclass(frozen=True)
class Rows:
    """What `each` row of an artefact or result table is one of, its columns in order, and optional columns."""

    each: str
    columns: Mapping[str, Column]
    sometimes: Mapping[str, Column] = field(default_factory=dict)

    def types(self, sometimes: bool = False) -> dict[str, str]:
        """Return the type of each column; with `sometimes`, of the optional ones too."""
        return {name: column.type for name, column in {**self.columns, **(self.sometimes if sometimes else {})}.items()}


#: Columns that hold the same wherever they stand.
COLUMNS = {
    "dataset": Column("string", "id of the data set"),
    "selector": Column("string", "id of the selector"),
    "split": Column("string", "`full`, or `cv-1`, `cv-2`, ..."),
    "feature": Column("string", "name of the feature"),
    "role": Column(
        "string",
        "`parent_or_child` (`parent`, `child` with tiers), `spouse`, `member` where the method tells no roles, or "
        "`included`: asked for, not found",
    ),
    "statistic": Column("double", "effect on the test's own scale; larger is stronger"),
    "p_value": Column("double", "of the test that decided, 0 to 1"),
    "log_p": Column("double", "its natural logarithm, which tells small ones apart where `p_value` is 0"),
    "dof": Column("double", "degrees of freedom; 1 for tests that have none"),
    "n": Column("int64", "rows used"),
    "reliable": Column("bool", "false where the test's own rule asks for more rows, or rounding destroyed a column"),
    "risk_differences": Column("list<double>", "`ppi`: what each repeat found, permuted minus original risk"),
    "importance": Column("double", "larger is more important; comparable within one selector only"),
    "given": Column("list<string>", "the conditioning set; null: all others that stood, if 500 or more"),
    "stand_ins": Column(
        STAND_INS,
        "features that keep at least 0.8 of its information about the target, the most first: the share of it and its "
        "95 % interval; from a share of 0.95 on a feature can stand in for it",
    ),
    "group": Column("string", "methods that form groups: the name of the feature's"),
    "order": Column("int64", "place in the order of admission, from 0"),
    "step": Column("int64", "place in the order of decisions, from 0"),
    "kept": Column("bool", "whether it stays"),
    "chosen": Column("bool", "whether it is in the blanket"),
    "frequency": Column("double", "share of the folds that hold it, or a feature for which it can stand in"),
    "fold": Column("string", "id of the fold: `0`, or `1of5`, ..."),
    "size": Column("int64", "features in the fold's set"),
    "z": Column("double", "mean frequency of its features over all folds, by which `best-blanket` chooses"),
    "n_tests": Column("int64", "CI tests computed"),
    "seconds": Column("double", "wall time", "s"),
    "blanket": Column("int64", "number of the blanket, from 1"),
    "rank": Column("int64", "place in it, from 1: most important first"),
    "count": Column("int64", "how often it was found"),
    "model": Column("string", "id of the model"),
    "metric": Column("string", "name of the metric"),
    "value": Column("double", "score on the test rows; null where there is none", "the metric's"),
    "prior": Column(
        "double", "score on the same rows of the majority class or the mean, without any feature", "the metric's"
    ),
    "seen": Column(
        "double",
        "`leave-group-out`: score at the groups that the search has seen, by cross-validation that mixes them",
        "the metric's",
    ),
    "n_features": Column("int64", "features that the model saw"),
    "effect": Column(
        "double",
        "correlation of what the other members leave of the feature and of the target, -1 to 1; Cramér's V, 0 to 1, if "
        "one of them has more than two levels",
    ),
    "low": Column("double", "lower end of the effect's 95 % interval"),
    "high": Column("double", "upper end of it"),
    "confirmed": Column(
        "bool", "whether p is at most 0.05 after Holm's correction for all members; with `confirm_splits`, by its rule"
    ),
    "member": Column("bool", "`confirm_splits`: whether it is in the final blanket; others are listed if confirmed"),
    "splits": Column("int64", "`confirm_splits`: on how many splits it was selected, and so tested"),
    "status": Column("string", "one of " + ", ".join(STATUSES)),
    "reason": Column("string", "why the status is not ok"),
}


def rows_of(each: str, names: str, sometimes: str = "", **own: Column) -> Rows:
    """Return rows with the columns of these names, defined in `own` or else in `COLUMNS`.

    >>> rows_of("fold", "fold size", size=Column("int32", "features")).types()
    {'fold': 'string', 'size': 'int32'}
    """
    known = {**COLUMNS, **own}
    return Rows(each, {n: known[n] for n in names.split()}, {n: known[n] for n in sometimes.split()})


#: The Parquet files of the stages, by the names of `blanketflow.workflow.layout`.
ARTEFACTS = {
    "splits": rows_of(
        "row of the table and split: whether it trains or tests, and its inner fold",
        "row split part folds fold",
        row=Column("int64", "row of the table, from 0"),
        part=Column("string", "`train` or `test`"),
        folds=Column("int64", "number of inner folds K"),
        fold=Column("int64", "inner fold of a training row, from 1; 0 for test rows"),
    ),
    "counts": rows_of(
        "table of counts, refused table, mean of a column, and centred sum of products of two, of a fold's rows",
        "statistic columns counts value",
        statistic=Column("string", "`counts`, `refused`, `mean` or `cross-product`"),
        columns=Column("list<string>", "the columns that it is of; of a label with r > 2 levels r - 1 rows, by level"),
        counts=Column("list<int64>", "rows in each cell, the last column's levels fastest; empty but for `counts`"),
        value=Column("double", "the mean or the sum of products; null where refused, and of tables"),
    ),
    "ci_test": rows_of(
        "feature, tested against the target given nothing",
        "feature statistic p_value log_p dof n reliable",
        sometimes="risk_differences",
    ),
    "grow": rows_of(
        "candidate, in the order of admission",
        "order feature role statistic p_value importance given",
        sometimes="group",
    ),
    "shrink": rows_of(
        "decision on a candidate",
        "feature kept role statistic p_value importance given step stand_ins",
        sometimes="group",
    ),
    "blanket": rows_of(
        "feature that any fold holds; split `full` is the final blanket",
        "feature chosen frequency importance role stand_ins",
        sometimes="group",
    ),
    "folds": rows_of(
        "fold",
        "fold size z chosen n_tests seconds",
        chosen=Column("bool", "whether its set became the blanket"),
    ),
    "blankets": rows_of("member of each Markov blanket that was found", "blanket feature rank count"),
    "confirm": rows_of(
        "member of the final blanket, tested given the others on rows that the search never saw",
        "feature statistic p_value effect low high confirmed",
        sometimes="member splits",
        statistic=Column("double", "of the generalised covariance measure; Hotelling's T² if there are several levels"),
        p_value=Column("double", "of independence given the other members, 0 to 1, not corrected"),
    ),
    "evaluate": rows_of(
        "split, model and metric",
        "split model metric value prior n_features seconds status reason",
        sometimes="seen",
        status=Column(
            "string",
            "ok; undefined: the metric has no value on these rows; error: the model failed; else that of the search, "
            "which found no blanket",
        ),
    ),
}
ARTEFACTS["all_splits"] = ARTEFACTS["splits"]
