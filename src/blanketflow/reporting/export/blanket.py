"""Exports a blanket as CSV, JSON, or Python source of a scikit-learn pipeline on its columns."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

from ...core.cards import BOOLEAN, CATEGORICAL, COUNT, ORDERED, POSITIVE, SHARE, SURVIVAL
from ...core.errors import DataError
from ...core.printable import as_cell, printable, printable_json

#: What is stated of each feature.
FIELDS = ("feature", "kind", "role", "importance", "frequency", "stand_ins")


@dataclass(frozen=True)
class ExportedBlanket:
    """A final blanket with its origin; features have the fields `FIELDS` and are sorted by importance, descending."""

    dataset: str
    target: str
    task: str
    selector: str
    method: str
    features: list[dict[str, Any]]
    version: str
    seed: int

    @property
    def names(self) -> list[str]:
        """The features, most important first."""
        return [row["feature"] for row in self.features]

    def as_csv(self) -> str:
        """Return a table of the features; a spreadsheet cannot read the names as formulas."""
        out = io.StringIO()
        writer = csv.DictWriter(out, FIELDS, extrasaction="ignore", lineterminator="\n", quoting=csv.QUOTE_NONNUMERIC)
        out.write(",".join(FIELDS) + "\n")
        writer.writerows({key: as_cell(value) for key, value in row.items()} for row in self.features)
        return out.getvalue()

    def as_json(self) -> str:
        """Return everything."""
        return printable_json(asdict(self), indent=2) + "\n"

    def as_pipeline(self) -> str:
        """Return Python source with the columns and a function that builds a pipeline for any model.

        Unlike a pickle, source is readable and independent of scikit-learn's version. `fit` learns medians and levels.
        """
        if not self.features:
            raise DataError(f"{self.selector} found no feature in {self.dataset}, so there is nothing to build on.")
        texts = [row["feature"] for row in self.features if row["kind"] in (CATEGORICAL, BOOLEAN)]
        numbers = [name for name in self.names if name not in texts]
        where = f"{self.target} in {self.dataset}, found by {self.selector}"
        found = f"blanketflow {self.version}, method {self.method}, seed {self.seed}"
        return _PIPELINE.format(
            told=printable(f"# The Markov blanket of {where} ({found})."),
            numbers=_list(numbers),
            texts=_list(texts),
            target=_TARGETS.get(self.task, ""),
        )


_OURS = "    blanketflow.plugins.get_model({model!r}).build({task!r}, seed=0) is one.\n"
#: What `fit` of the pipeline needs for targets beside classes and numbers.
_TARGETS = {
    SURVIVAL: """
    The target is the time to an event: fit needs a structured array with the fields event (bool) and time (float) and a
    survival model, such as those of scikit-survival.
"""
    + _OURS.format(model="cox", task=SURVIVAL),
    COUNT: """
    The target is a count: the model predicts its mean, as sklearn.linear_model.PoissonRegressor does. With an exposure,
    fit needs a structured array with the fields count and exposure, and a model that takes it.
"""
    + _OURS.format(model="poisson", task=COUNT),
    ORDERED: """
    The target is an ordered class: fit needs its codes, 0 for the lowest class, and any classifier.
"""
    + _OURS.format(model="proportional-odds", task=ORDERED),
    SHARE: """
    The target is a share between 0 and 1: the model predicts its mean.
"""
    + _OURS.format(model="fractional-logit", task=SHARE),
    POSITIVE: """
    The target is a positive number: the model predicts its mean, as sklearn.linear_model.GammaRegressor does.
"""
    + _OURS.format(model="gamma", task=POSITIVE),
}

_PIPELINE = """{told}

from sklearn.compose import ColumnTransformer
from sklearn.impute import SimpleImputer
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.preprocessing import OneHotEncoder

NUMBERS = {numbers}
LABELS = {texts}
BLANKET = [*NUMBERS, *LABELS]


def blanket_pipeline(model) -> Pipeline:
    \"\"\"Return a pipeline that takes a DataFrame, keeps the blanket's columns and fits the model on them.

    Put a StandardScaler before models that need one: blanket_pipeline(make_pipeline(StandardScaler(), SVC())).
{target}    \"\"\"
    labels = OneHotEncoder(handle_unknown="ignore")  # a missing label is a level of its own
    columns = [("numbers", SimpleImputer(strategy="median"), NUMBERS), ("labels", labels, LABELS)]
    return make_pipeline(ColumnTransformer(columns, sparse_threshold=0), model)
"""


def _list(names: Sequence[str]) -> str:
    """Return Python source of a list of arbitrary names."""
    lines = "".join(f"    {name!r},\n" for name in names)
    return f"[\n{lines}]" if lines else "[]"
