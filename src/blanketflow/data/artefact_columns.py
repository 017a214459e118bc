"""The columns of every artefact: type, meaning and unit. Writers, the documentation and the result tables use them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
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

    def types(self, sometimes: bool | Collection[str] = False) -> dict[str, str]:
        """Return the type of each column and of the optional ones, all with True, or else those in `sometimes`."""
        asked = (self.sometimes if sometimes else ()) if isinstance(sometimes, bool) else sometimes
        also = {name: column for name, column in self.sometimes.items() if name in asked}
        return {name: column.type for name, column in {**self.columns, **also}.items()}


#: Columns with the same meaning in all files.
COLUMNS = {
    "dataset": Column("string", "id of the data set"),
    "selector": Column("string", "id of the selector"),
    "split": Column("string", "`full`, or `cv-1`, `cv-2`, ..."),
    "feature": Column("string", "name of the feature"),
    "role": Column(
        "string",
        "`parent_or_child` (`parent` or `child` with tiers), `spouse`, `member` (methods without roles) or `included` "
        "(by the key `include`)",
    ),
    "statistic": Column("double", "effect on the scale of the test; larger is stronger"),
    "p_value": Column("double", "p-value of the deciding test, 0 to 1"),
    "log_p": Column("double", "natural logarithm of the p-value, also where `p_value` is 0"),
    "dof": Column("double", "degrees of freedom; 1 for tests that have none"),
    "n": Column("int64", "rows used"),
    "reliable": Column("bool", "false if the test needs more rows, or a column was lost to rounding"),
    "risk_differences": Column("list<double>", "`ppi`: permuted minus original risk of each repeat"),
    "importance": Column("double", "importance, larger is more important; comparable within one selector only"),
    "given": Column("list<string>", "conditioning set; null if it is all 500 or more other members"),
    "stand_ins": Column(
        STAND_INS,
        "features with at least 0.8 of its information about the target, largest share first, with 95 % intervals; "
        "from 0.95 on a feature is a stand-in",
    ),
    "group": Column("string", "name of the feature's group, of methods that form groups"),
    "order": Column("int64", "position in the order of admission, from 0"),
    "step": Column("int64", "position in the order of decisions, from 0"),
    "kept": Column("bool", "whether the candidate is kept"),
    "chosen": Column("bool", "whether the feature is in the blanket"),
    "frequency": Column("double", "share of the folds that select it, or a feature of which it is a stand-in"),
    "fold": Column("string", "id of the fold: `0`, or `1of5`, ..."),
    "size": Column("int64", "number of features that the fold selects"),
    "z": Column("double", "mean frequency of its features over all folds; `best-blanket` selects by it"),
    "n_tests": Column("int64", "CI tests computed"),
    "seconds": Column("double", "wall time", "s"),
    "blanket": Column("int64", "number of the blanket, from 1"),
    "rank": Column("int64", "rank in the blanket, from 1: most important first"),
    "count": Column("int64", "how often the blanket was found"),
    "model": Column("string", "id of the model"),
    "metric": Column("string", "name of the metric"),
    "value": Column("double", "score on the test rows; null if there is none", "the metric's"),
    "prior": Column(
        "double",
        "score on the same rows without features: class shares, mean, rate or Kaplan-Meier curve",
        "the metric's",
    ),
    "seen": Column(
        "double",
        "`leave-group-out`: score on the training groups, by cross-validation that mixes groups",
        "the metric's",
    ),
    "n_features": Column("int64", "number of features of the model"),
    "effect": Column(
        "double",
        "correlation of the residuals of feature and target given the other members, -1 to 1; Cramér's V, 0 to 1, if "
        "one of them has more than two levels",
    ),
    "low": Column("double", "lower bound of the effect's 95 % interval"),
    "high": Column("double", "upper bound of it"),
    "ratio": Column(
        "double",
        "targets of further kinds: hazard ratio, rate ratio, odds ratio or ratio of means given the other members, per "
        "standard deviation of a number, or for the larger against the smaller of two values; null for more levels",
    ),
    "ratio_low": Column("double", "lower bound of the ratio's 95 % interval"),
    "ratio_high": Column("double", "upper bound of it"),
    "confirmed": Column(
        "bool", "whether p <= 0.05 after Holm's correction for all members; with `confirm_splits`, by its rule"
    ),
    "member": Column("bool", "`confirm_splits`: whether it is in the final blanket; others are listed if confirmed"),
    "splits": Column("int64", "`confirm_splits`: number of splits that selected, and so tested, the feature"),
    "status": Column("string", "one of " + ", ".join(STATUSES)),
    "reason": Column("string", "reason of a status that is not ok"),
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
        "row of the table and split, with its part and inner fold",
        "row split part folds fold",
        row=Column("int64", "row of the table, from 0"),
        part=Column("string", "`train`, `test` or, of `forward` splits, `neither`"),
        folds=Column("int64", "number of inner folds K"),
        fold=Column("int64", "inner fold of a training row, from 1; 0 for other rows"),
    ),
    "counts": rows_of(
        "table of counts, refused table, mean of a column, or centred sum of products of two, over a fold's rows",
        "statistic columns counts value",
        statistic=Column("string", "`counts`, `refused`, `mean` or `cross-product`"),
        columns=Column("list<string>", "its columns; a label with r > 2 levels has r - 1 rows, by level"),
        counts=Column("list<int64>", "rows in each cell, the last column's levels fastest; empty except for `counts`"),
        value=Column("double", "mean or sum of products; null for tables, and if refused"),
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
        "feature that any fold selects; split `full` has the final blanket",
        "feature chosen frequency importance role stand_ins",
        sometimes="group",
    ),
    "folds": rows_of(
        "fold",
        "fold size z chosen n_tests seconds",
        chosen=Column("bool", "whether the fold's set is the blanket"),
    ),
    "blankets": rows_of("member of each Markov blanket found", "blanket feature rank count"),
    "confirm": rows_of(
        "member of the final blanket, tested given the others on held-out rows",
        "feature statistic p_value effect low high confirmed",
        sometimes="ratio ratio_low ratio_high member splits",
        statistic=Column("double", "generalised covariance measure; Hotelling's T² if there are several levels"),
        p_value=Column("double", "p-value of independence given the other members, 0 to 1, uncorrected"),
    ),
    "evaluate": rows_of(
        "split, model and metric",
        "split model metric value prior n_features seconds status reason",
        sometimes="seen",
        status=Column(
            "string",
            "ok; undefined: the metric has no value on these rows; error: the model failed; else the status of a "
            "search without a blanket",
        ),
    ),
}
ARTEFACTS["all_splits"] = ARTEFACTS["splits"]
