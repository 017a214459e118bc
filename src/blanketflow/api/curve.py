"""The score of a selection by its number of features, in a few lines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from ..reporting.formatting import fixed, metric_name, signed

#: What is said above a curve.
CURVE = "Scores by number of features, each of the best set of its size, by cross-validation:"
#: Lines of a curve.
MOST_POINTS = 8


def points(alternatives: Sequence[Mapping[str, Any]], metric: str) -> list[Mapping[str, Any]]:
    """Return at most eight sizes: what was chosen, none, all and the best, and then halves and doubles of the choice.

    Parameters
    ----------
    alternatives : sequence of mapping
        Those of a verdict, one for each number of features, the smallest first.
    metric : str
        The key of their score.

    Examples
    --------
    >>> sizes = [{"n_features": n, "r2": 1 - 1 / (n + 1), "chosen": n == 8} for n in (0, 1, 2, 3, 4, 5, 8, 16, 20, 90)]
    >>> [point["n_features"] for point in points(sizes, "r2")]
    [0, 1, 2, 4, 8, 16, 20, 90]
    """
    sizes = [row["n_features"] for row in alternatives]
    chosen = next(row["n_features"] for row in alternatives if row["chosen"])
    best = max(alternatives, key=lambda row: (round(row[metric], 9), -row["n_features"]))["n_features"]
    wanted = [chosen, *sizes[:1], *sizes[-1:], best]
    for factor in (2, 4, 8, 16):
        wanted += [min(sizes, key=lambda size: abs(size - to)) for to in (chosen / factor, chosen * factor)]
    shown = list(dict.fromkeys([*wanted, *sizes]))[:MOST_POINTS]
    return [row for row in alternatives if row["n_features"] in shown]


def curve(verdict: Mapping[str, Any]) -> tuple[list[str], list[list[str]]]:
    """Return the head and the rows of a table: features, score, difference to all features, and which were kept.

    There are no rows if the verdict has no alternatives.
    """
    alternatives = verdict.get("alternatives") or []
    if not alternatives:
        return [], []
    metric = verdict["scores"][0]["metric"]
    last = alternatives[-1]["n_features"]
    rows = [
        [
            f"{row['n_features']:,}",
            fixed(row[metric]),
            signed(row["difference"]),
            "kept" if row["chosen"] else "all" if row["n_features"] == last and row["ranking"] == "all" else "",
        ]
        for row in points(alternatives, metric)
    ]
    return ["features", metric_name(metric.replace("_", "-")), "to all", ""], rows
