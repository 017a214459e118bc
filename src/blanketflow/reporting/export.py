"""A blanket for other programs: CSV, JSON, or Python source of a scikit-learn pipeline on its columns."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from ..core.cards import BOOLEAN, CATEGORICAL
from ..core.errors import DataError, did_you_mean
from ..core.printable import printable
from ..core.spreadsheets import as_cell
from ..data.artefacts import read_columns, read_json, read_provenance
from ..data.storage import read_table

FORMS = ("csv", "json", "pipeline")
#: What is stated of each feature.
FIELDS = ("feature", "kind", "role", "importance", "frequency")
FINAL = "full"


@dataclass(frozen=True)
class Blanket:
    """A blanket that was found.

    Attributes
    ----------
    dataset, target, task, selector, method : str
        Where it comes from.
    features : list of dict
        feature, kind (of the column), role, importance and frequency; most important first.
    version : str
        Of the blanketflow that found it.
    seed : int
    """

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

    def text(self, form: str) -> str:
        """Return it as ``csv``, ``json`` or ``pipeline``."""
        return {"csv": self.as_csv, "json": self.as_json, "pipeline": self.as_pipeline}[form]()

    def as_csv(self) -> str:
        """Return a table of the features, whose names are no formulas where a spreadsheet opens it."""
        out = io.StringIO()
        writer = csv.DictWriter(out, FIELDS, extrasaction="ignore", lineterminator="\n")
        writer.writeheader()
        writer.writerows({key: as_cell(value) for key, value in row.items()} for row in self.features)
        return out.getvalue()

    def as_json(self) -> str:
        """Return everything."""
        return json.dumps(asdict(self), indent=2) + "\n"

    def as_pipeline(self) -> str:
        """Return Python source: the columns, and a function that puts any model behind them.

        Source is read before it is run, and holds for any version of scikit-learn; a pickle does neither. What the
        pipeline learns (medians, levels), it learns when it is fitted, so it can be cross-validated.
        """
        if not self.features:
            raise DataError(f"{self.selector} found no feature in {self.dataset}, so there is nothing to build on.")
        texts = [row["feature"] for row in self.features if row["kind"] in (CATEGORICAL, BOOLEAN)]
        numbers = [name for name in self.names if name not in texts]
        where = f"{self.target} in {self.dataset}, found by {self.selector}"
        found = f"blanketflow {self.version}, method {self.method}, seed {self.seed}"
        return _PIPELINE.format(
            told=printable(f"# The Markov blanket of {where} ({found})."), numbers=_list(numbers), texts=_list(texts)
        )


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
    \"\"\"
    labels = OneHotEncoder(handle_unknown="ignore")  # a missing label is a level of its own
    columns = [("numbers", SimpleImputer(strategy="median"), NUMBERS), ("labels", labels, LABELS)]
    return make_pipeline(ColumnTransformer(columns, sparse_threshold=0), model)
"""


def _list(names: Sequence[str]) -> str:
    """Return Python source of a list of names, whatever characters they hold."""
    lines = "".join(f"    {name!r},\n" for name in names)
    return f"[\n{lines}]" if lines else "[]"


def read_blanket(results: str | Path, dataset: str | None = None, selector: str | None = None) -> Blanket:
    """Read a final blanket of a finished run.

    Parameters
    ----------
    results : path
        The folder of results.
    dataset, selector : str, optional
        Ids of the config; may be left out where there is only one.

    Raises
    ------
    DataError
        If there are no such results, or no such blanket in them; the message says what there is.
    """
    results = Path(results)
    table = results / "tables" / "blankets.parquet"
    if not table.is_file():
        raise DataError(f"{results} holds no finished run ({table} is not there). Run it by blanketflow run first.")
    columns, _ = read_columns(table)
    config = read_json(results / "provenance.json")["config"]
    dataset = _one_of(dataset, config["order"]["datasets"], "data set", "--dataset")
    skipped = {name: reason for data, name, reason in config["skipped"] if data == dataset}
    if selector in skipped:
        raise DataError(f"{selector} was skipped on {dataset}: {skipped[selector]}.")
    left = [name for name in config["order"]["selectors"] if name not in skipped]
    selector = _one_of(selector, left, "selector", "--selector")
    rows = zip(*(columns[name] for name in ("dataset", "selector", *FIELDS) if name != "kind"), strict=True)
    features = [
        {"feature": feature, "role": role, "importance": importance, "frequency": frequency}
        for data, name, feature, role, importance, frequency in rows
        if (data, name) == (dataset, selector)
    ]
    stored = read_table(results / "data" / dataset / "table.parquet", [row["feature"] for row in features])
    for row, column in zip(features, stored.features.columns, strict=True):
        row["kind"] = column.kind
    provenance = _provenance(results, dataset, selector)
    if not features and not provenance.usable:
        raise DataError(f"{selector} failed on {dataset}: {provenance.reason}")
    method, seed = config["selectors"][selector]["method"], config["seed"]
    target, task = stored.target.name, stored.extra["task"]
    return Blanket(dataset, target, task, selector, method, features, provenance.version, seed)


def _provenance(results: Path, dataset: str, selector: str) -> Any:
    path = results / "select" / dataset / FINAL / selector / "blanket.parquet"
    if not path.is_file():
        raise DataError(
            f"{results} has no final blanket of {selector} on {dataset}: the run had splits: {{final: false}}. "
            "Set it to true and run again."
        )
    return read_provenance(path)


def _one_of(asked: str | None, known: Sequence[str], what: str, option: str) -> str:
    if asked is None and len(known) == 1:
        return known[0]
    if asked is None:
        raise DataError(f"there is more than one {what}: add {option} with one of {', '.join(known)}.")
    if asked not in known:
        raise DataError(f"the results have no {what} {asked!r}. {did_you_mean(asked, known)}")
    return asked
