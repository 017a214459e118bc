"""What the unified view says of imbalanced classes, on a page: `python -m studies.papers.imbalanced` after a run of
studies/papers/configs/unified-view-imbalanced.yaml.

Renews the tables of printed.md from that run's scores; `studies/papers/page.py` draws its curves.
"""

from __future__ import annotations

import pandas as pd

from studies.papers.page import RANKING, RUNS, write
from studies.shared.page import row

RUN = "unified-view-imbalanced"
METRICS = ["accuracy", "balanced-accuracy", "kappa"]


def main() -> None:
    """Renew the tables, one a model."""
    scores = pd.read_parquet(RUNS / RUN / "tables" / "scores.parquet")
    for model, found in best_sizes(scores).groupby("model", sort=False):
        write(f"{RUN} {model}", grid(found))


def best_sizes(scores: pd.DataFrame) -> pd.DataFrame:
    """Return a row a data set, model and method with means; of the sizes of a ranking the most accurate."""
    wide = scores.pivot_table(
        index=["dataset", "model", "selector", "n_features"], columns="metric", values="mean", sort=False
    ).reset_index()
    ranking = wide["selector"].str.extract(RANKING)[0]
    wide["method"] = ranking.fillna(wide["selector"])
    best = wide.sort_values("accuracy", ascending=False, kind="stable")
    return best.drop_duplicates(["dataset", "model", "method"]).sort_index()


def grid(found: pd.DataFrame) -> str:
    """Return the table of a model: data sets, methods, and in each cell the metrics and the number of features."""
    methods = list(dict.fromkeys(found["method"]))
    lines = [row("", *methods), row(*["---"] * (1 + len(methods)))]
    for dataset, of_it in found.groupby("dataset", sort=False):
        by_method = of_it.set_index("method")
        cells = (cell(by_method.loc[m]) if m in by_method.index else "no answer" for m in methods)
        lines.append(row(dataset, *cells))
    return "\n".join(lines)


def cell(one: pd.Series) -> str:
    """Return the metrics, and the mean number of features."""
    return f"{' / '.join(f'{one[metric]:.3f}' for metric in METRICS)} ({one['n_features']:.3g})"


if __name__ == "__main__":
    main()
