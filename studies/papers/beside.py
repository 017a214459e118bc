"""The tables that set a run beside a paper: what its config names under `tables`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from blanketflow.core.errors import ConfigError
from blanketflow.core.rows import LEAVE_GROUP_OUT
from blanketflow.plugins import FurtherTable, RunResults
from studies.papers.claims import OF_TABLES, judge, read_claims
from studies.papers.comparison import compare_with_printed
from studies.papers.printed_tables import read_printed

if TYPE_CHECKING:
    import pandas as pd

#: The selections whose scores claims are judged by.
HONEST = "training rows"


class Printed(FurtherTable):
    """Our results beside those that a paper printed, in the file `path`."""

    def __init__(self, path: str) -> None:
        self.path = path

    def files(self) -> list[str]:
        """Return the file of printed results."""
        return [self.path]

    def check(self, where: str, n_folds: int | str) -> None:
        """Refuse printed results that tell a run nothing."""
        read_printed(self.path)
        if n_folds == LEAVE_GROUP_OUT:
            raise ConfigError(
                f"{where} sets partitions of some folds beside printed ones, and splits.evaluation: {LEAVE_GROUP_OUT} "
                "has none. Set it to 5 or 10, or remove the table."
            )
        if not n_folds and not any(claim.measure in OF_TABLES for claim in read_claims(self.path)):
            raise ConfigError(
                f"{where} sets scores beside others, and there are none. Set splits.evaluation to 2 or more."
            )

    def make(self, run: RunResults) -> pd.DataFrame:
        """Return a row for each printed number and kind of selection."""
        return compare_with_printed(read_printed(self.path), run.scores, run.n_folds)


class Claims(Printed):
    """What the paper of the file `path` claims, judged by a run."""

    def make(self, run: RunResults) -> pd.DataFrame:
        """Return a row for each claim and pair of methods."""
        honest = run.scores[run.scores["selected_on"] == HONEST]
        return judge(read_claims(self.path), honest, run.tables)
