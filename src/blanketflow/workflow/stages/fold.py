"""The rows of a fold, their identity, and the spec of the work on them."""

from __future__ import annotations

import inspect
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from ...ci import CITest, get_ci_test
from ...ci.missing import with_incomplete
from ...core.cards import IMPUTATIONS
from ...core.limits import Limits
from ...core.prior import PriorKnowledge
from ...core.registry import import_name
from ...core.rows import sampled, searched_rows
from ...core.seeds import derive_seed
from ...core.table import Column, Table
from ...counts.summed_table import SummedTable
from ...data.arrow import array_from_arrow
from ...data.artefacts import read_arrow
from ...data.impute import impute
from ...data.provenance import Provenance
from ...data.splits import fold_rows, train_rows
from ...data.storage import WHOLE, Part, StoredTable, read_features, read_table
from ...search.run_fold import fold_seed
from ...selectors import get_method
from ...selectors.base import Method
from ...targets import as_read
from ..identity import content_of, made


@dataclass
class Fold:
    """The rows of a fold, their identity, and the spec of the work on them."""

    table: Path
    splits: Path
    dataset: str
    split: str
    fold: str
    spec: str
    code: str = ""

    @property
    def asked(self) -> dict[str, Any]:
        """The spec, parsed."""
        return json.loads(self.spec)

    @property
    def seed(self) -> int:
        """The fold's seed."""
        return fold_seed(self.asked["seed"], self.dataset, self.split, self.fold)

    def method(self) -> Method:
        """Return the configured method of the spec."""
        where = f"selector on {self.dataset}"
        return get_method(self.asked["method"], where, with_network(where, self.asked["options"]))

    def test(self) -> CITest:
        """Return the configured CI test: that of a method's spec, or the spec's own."""
        asked = self.asked
        return with_incomplete(self.plain_test(asked.get("ci_test", asked)), self.incomplete)

    def plain_test(self, asked: Mapping[str, Any]) -> CITest:
        """Return the CI test of a spec without handling of missing cells."""
        return configured_test(asked)

    @property
    def incomplete(self) -> str | int | None:
        """How the CI test handles missing cells; None if it sees none."""
        asked = self.asked
        of_test = asked.get("ci_test", asked) or {}
        return of_test.get("missing") or of_test.get(IMPUTATIONS)

    def rows(self) -> np.ndarray:
        """Return the indices of the fold's rows in the table, beyond `max_rows` a sample of them."""
        rows, max_rows = self._all_rows(), self.asked.get("max_rows")
        if max_rows is None:
            return rows
        return sampled(rows, read_table(self.table, []).target.balanced_by, max_rows, self.seed)

    def _all_rows(self) -> np.ndarray:
        rows = fold_rows(read_splits(self.splits), self.split, self.fold, self.asked["fold_rows"])
        return rows if self.asked.get("confirm") is None else np.setdiff1d(rows, self.left_out_rows())

    def left_out_rows(self) -> np.ndarray:
        """Return the training rows of the split that no search with `confirm` uses: the same on all its folds."""
        rows, stored, asked = train_rows(read_splits(self.splits), self.split), read_table(self.table, []), self.asked
        groups = None if stored.groups is None else stored.groups[rows]
        seed = derive_seed(asked["seed"], self.dataset, self.split)
        where = f"{self.dataset}, split {self.split}"
        return rows[~searched_rows(stored.target.balanced_by[rows], asked["confirm"], seed, groups, where)]

    def sample(self) -> dict[str, list[int]]:
        """Return sample size and number of rows for the metadata; empty if all rows are used."""
        max_rows = self.asked.get("max_rows")
        n_rows = 0 if max_rows is None else len(self._all_rows())
        return {"sample": [max_rows, n_rows]} if max_rows is not None and n_rows > max_rows else {}

    @property
    def is_counted(self) -> bool:
        """Whether only counts or cross products of the rows are needed."""
        return "shards" in self.asked

    def read(self, part: Part = WHOLE) -> Table:
        """Return the fold's rows as `prepared`: all or some features, then the target; or counts of them."""
        if self.is_counted:
            from ...counts.sufficient_statistics import read_statistics_of

            return SummedTable(read_statistics_of(self.table))
        return self.prepared(read_features(self.table, part), self.rows())

    def gaps(self) -> dict[str, int]:
        """Return the number of missing cells of each feature of the table that has any."""
        return {} if self.is_counted else read_table(self.table, []).extra["gaps"]

    def groups(self) -> np.ndarray | None:
        """Return the group number of each row of the fold; None without groups."""
        numbers = None if self.is_counted else read_table(self.table, []).groups
        return None if numbers is None else numbers[self.rows()]

    def repeats(self) -> np.ndarray | None:
        """Return the groups if they are rows that were entered more than once."""
        is_told = not self.is_counted and read_table(self.table, []).extra.get("has_repeats")
        return self.groups() if is_told else None

    def target(self) -> Column | None:
        """Return the target of the fold's rows; None for counts of rows."""
        return None if self.is_counted else read_table(self.table, []).target.take(self.rows())

    def n_groups(self) -> int | None:
        """Return the number of groups among the split's training rows if CI tests need it; else None."""
        design = None if self.is_counted else read_table(self.table, []).features.design
        return None if design is None else design.take(train_rows(read_splits(self.splits), self.split)).n_clusters

    def prepared(self, stored: StoredTable, rows: np.ndarray) -> Table:
        """Return rows as the searches use them: `filled`, and with the target as the method or test reads it."""
        asked, decides = self.asked, None
        if asked.get("ci_test") or "type" in asked:
            decides = self.test().card
        elif "method" in asked:
            decides = self.method().card
        return self.filled(stored, rows).with_column(as_read(stored.target.take(rows), decides))

    def filled(self, stored: StoredTable, rows: np.ndarray) -> Table:
        """Return the features of rows: imputed, unless the CI test accepts missing cells."""
        features = stored.features.take(rows)
        return impute(features, features) if self.incomplete is None else features

    def prior(self) -> PriorKnowledge:
        """Return the search's prior knowledge of features."""
        return PriorKnowledge.joined(self.asked.get("prior", {}))

    def limits(self) -> Limits:
        """Return the limits of each stage."""
        return Limits(**self.asked["limits"])

    @cached_property
    def contents(self) -> list[str]:
        """The content digests of the table and the splits."""
        return [content_of(self.table), content_of(self.splits)]

    def provenance(self, artefact: str, path: Path, more: Sequence[Path] = ()) -> Provenance:
        """Return a new provenance of an artefact made from this fold's rows and further artefacts."""
        return made(artefact, path, [*self.contents, *more], self.spec, self.code, self.seed)


def read_splits(path: Path) -> dict[str, Any]:
    """Return splits.parquet as arrays."""
    table, _ = read_arrow(path, coded=["split", "part"])
    return {name: array_from_arrow(table.column(name)) for name in table.column_names}


def configured_test(asked: Mapping[str, Any]) -> CITest:
    """Return the CI test of a spec; one that knows the truth receives the network that its spec names."""
    return get_ci_test(asked["type"], **with_network(f"CI test {asked['type']!r}", asked["options"]))


def with_network(where: str, options: Mapping[str, Any]) -> dict[str, Any]:
    """Return options with the network that they name, if any; `where` names their owner in messages."""
    if not isinstance(options.get("network"), str):
        return dict(options)
    # By name, so that the digests of other jobs omit the readers; when these change, the table is recomputed.
    read_source_network = import_name("blanketflow.data.sources:read_source_network")
    return {**options, "network": read_source_network(where, options["network"])}


def on_one_fold(stage: Callable[..., object]) -> Callable[..., None]:
    """Return the main function of a script for a stage of one fold; it takes the arguments of `Fold` by name, too."""
    of_fold = [field.name for field in fields(Fold)]
    of_stage = [*inspect.signature(stage).parameters][1:]

    def main(**given: Any) -> None:
        stage(Fold(**{name: given.pop(name) for name in of_fold}), **given)

    by_name = [inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY) for name in (*of_fold, *of_stage)]
    main.__signature__ = inspect.Signature(by_name)  # type: ignore[attr-defined]
    return main
