"""Who is better on each data set: mean ranks, and wins against each other selector."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from ...data.artefact_columns import Column, rows_of
from .result_table import frame
from .scores import DECIMALS, is_higher_better

if TYPE_CHECKING:
    import pandas as pd


RANKS = rows_of(
    "metric, model and selector: mean rank over the data sets",
    "metric model selector mean_rank n_datasets",
    mean_rank=Column("double", "1 is best"),
    n_datasets=Column("int64", "number of data sets in the mean"),
)
WINS = rows_of(
    "metric, model and pair of selectors: data sets on which one beats the other",
    "metric model selector other wins ties losses",
    other=Column("string", "id of the selector that it is compared with"),
    wins=Column("int64", "data sets on which `selector` has the better mean"),
    ties=Column("int64", "data sets on which their means are equal"),
    losses=Column("int64", "data sets on which `other` has the better mean"),
)


def cost_matrices(scores: pd.DataFrame) -> Iterator[tuple[str, str, pd.DataFrame]]:
    """Yield metric, model and mean scores, data sets by selectors: the lower the better, missing where there is none.

    A mean over fewer splits than others have on the same data set is left out: a selector that fails on the hard splits
    has no score.
    """
    known = _on_all_splits(scores.dropna(subset=["mean"]))
    for (metric, model), part in known.groupby(["metric", "model"], sort=False):
        means = part.pivot(index="dataset", columns="selector", values="mean")
        ordered = means.loc[part["dataset"].unique(), part["selector"].unique()]
        yield metric, model, ((-ordered if is_higher_better(metric) else ordered).round(DECIMALS))


def _on_all_splits(scores: pd.DataFrame) -> pd.DataFrame:
    if "n_splits" not in scores:
        return scores
    most = scores.groupby(["dataset", "metric", "model"])["n_splits"].transform("max")
    return scores[scores["n_splits"] == most]


def ranks(scores: pd.DataFrame) -> pd.DataFrame:
    """Rank the selectors on each data set, 1 the best, ties averaged, and average over the data sets.

    A selector is ranked among those that have a score on the same data set; ``n_datasets`` is the number of these data
    sets. Mean ranks over different data sets are not comparable.
    """
    return rank_table(cost_matrices(scores))


def rank_table(matrices: Iterator[tuple[str, str, pd.DataFrame]]) -> pd.DataFrame:
    """Return the mean rank of each column of each matrix, the best first."""
    rows = []
    for metric, model, costs in matrices:
        by_dataset = costs.rank(axis=1, method="average")
        mean, count = by_dataset.mean(), by_dataset.count()
        rows += [
            {"metric": metric, "model": model, "selector": selector}
            | {"mean_rank": mean[selector], "n_datasets": int(count[selector])}
            for selector in costs
        ]
    return frame(RANKS, rows).sort_values(
        ["metric", "model", "mean_rank", "selector"], kind="stable", ignore_index=True
    )


def wins(scores: pd.DataFrame) -> pd.DataFrame:
    """Count the data sets on which a selector beats, ties and loses against each other one, in both orders.

    A data set counts for a pair if both have a score there. A failure is therefore not a loss, and the sum of wins,
    ties and losses shows it. Means that differ by rounding tie.
    """
    rows = []
    for metric, model, costs in cost_matrices(scores):
        values = costs.to_numpy()
        for i, selector in enumerate(costs):
            # Comparisons with a missing score are false, so they count nowhere.
            better, same, worse = (
                compared.sum(axis=0)
                for compared in (
                    values[:, [i]] < values,
                    values[:, [i]] == values,
                    values[:, [i]] > values,
                )
            )
            rows += [
                {"metric": metric, "model": model, "selector": selector, "other": other}
                | {"wins": int(better[j]), "ties": int(same[j]), "losses": int(worse[j])}
                for j, other in enumerate(costs)
                if j != i
            ]
    return frame(WINS, rows)
