"""Which method to start with on a table, and why; used by `inspect`, `init` and docs/choosing.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..ci.base import CITest
from ..workflow.peek import Facts

#: Subset searches take minutes on tables with more columns.
MOST_FEATURES = 2_000
#: With fewer rows no conditional test is informative.
FEWEST_ROWS = 20
ALPHA = 0.05


@dataclass(frozen=True)
class Advice:
    """A method with options for one purpose, and the reason.

    `want` is the purpose, `situation` the kind of table, `measured` the evidence. `of_table` fills ``0.05 / features``.
    """

    want: str
    situation: str
    method: str
    why: str
    measured: str
    options: Mapping[str, Any] = field(default_factory=dict)

    def of_table(self, n_features: int, test: CITest | None = None) -> Advice:
        """Return the advice with its options for one table.

        >>> BLANKET.of_table(4026).options
        {'alpha': 1.2e-05}
        """
        options = dict(self.options)
        if options.get("alpha") == PER_FEATURE:
            least = test.saturated_p() if test is not None else 0.0
            options["alpha"] = float(f"{max(ALPHA / max(n_features, 1), least):.2g}")
        if "n_features" in options:
            options["n_features"] = max(1, min(options["n_features"], n_features // 2))
        return replace(self, options=options)


PER_FEATURE = "0.05 / features"
TO_PREDICT, THE_BLANKET = "the features to keep to predict", "a Markov blanket"
PREDICT = Advice(
    TO_PREDICT,
    "any table",
    "auto",
    "it keeps the smallest set with which models predict as well as with the best",
    "see [which features to keep](answer.md)",
)
BLANKET_OF_LEVELS = Advice(
    THE_BLANKET,
    f"up to {MOST_FEATURES:,} columns, all with levels, and rows enough for `g2`",
    "hiton-mb",
    "it conditions on at most three features, so it needs few rows; it is slow where most features are related",
    "on two samples of ALARM with 1,000 rows it finds 83 % and 74 % of all members and no other feature, and is "
    "reliable for 26 of 37 targets (`iamb`: for 16 and 9)",
    {"alpha": ALPHA, "time_limit": 120},
)
BLANKET = Advice(
    THE_BLANKET,
    "any other table",
    "iamb",
    "it makes few tests, and each conditions only on the features found so far; alpha is divided by the number of "
    "features, since each step adds the strongest of all of them",
    "on two samples of ALARM with 1,000 rows, 3 % and 5 % of the features that it finds are false, and 15 % and 30 % "
    "with alpha 0.05",
    {"alpha": PER_FEATURE},
)
TOO_FEW_ROWS = Advice(
    THE_BLANKET,
    f"fewer than {FEWEST_ROWS} rows",
    "mrmr",
    "no search is reliable with so few rows; this ranks the features without testing them",
    "",
    {"n_features": 10},
)
RANKING = Advice(
    "a ranking",
    "any table",
    "mrmr",
    "it conditions on one feature at a time, so it needs few rows",
    "on [five gene sets](../studies/gene_sets/README.md) no other method is better with ten genes, except by one row "
    "on colon",
    {"n_features": 10},
)
#: In the order of docs/choosing.md.
ADVICE = (PREDICT, BLANKET_OF_LEVELS, BLANKET, TOO_FEW_ROWS, RANKING)


def blanket_advice(facts: Facts, n_rows: int, test: CITest) -> Advice:
    """Return the method for a Markov blanket with options for this table.

    `n_rows` is the size of the smallest fold, `test` the CI test chosen by ``auto``.
    """
    if n_rows < FEWEST_ROWS:
        return TOO_FEW_ROWS.of_table(facts.n_features)
    by_subsets = test.card.id == "g2" and facts.n_features <= MOST_FEATURES
    return (BLANKET_OF_LEVELS if by_subsets else BLANKET).of_table(facts.n_features, test)
