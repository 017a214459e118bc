"""Features chosen on published tables by searches of ours and by what people use, judged on unseen rows."""

from __future__ import annotations

import csv
import time
import warnings
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import rankdata

import blanketflow as bf
from blanketflow.core.seeds import seed_32
from blanketflow.core.table import Table
from blanketflow.models.encode import design
from blanketflow.models.evaluation import evaluate_split
from blanketflow.targets import get_target_kind
from blanketflow.targets.normal_scores import scores_of
from studies.target_kinds.competitors import VARIANCE, WAYS, chosen_by, residuals
from studies.target_kinds.data import SETS, PublicSet

N_SPLITS, SHARE_UNSEEN, MOST_ROWS = 10, 1 / 3, 600
OURS = ("hiton-mb lr-mixed", "hiton-mb spline", "auto")
ALL = "all features"
METHODS = (*OURS, *WAYS, VARIANCE, ALL)
#: What judges each kind; all but the concordance are stated as the share of the value without features that is gone.
JUDGES = {
    "survival": "uno-concordance",
    "count": "poisson-deviance",
    "ordered": "ranked-probability-score",
    "share": "share-deviance",
    "positive": "gamma-deviance",
}
#: Of times to an event also Harrell's concordance, which late events move less.
ALSO = "concordance"
SCORES = ("linear", "boosted", "harrell linear", "harrell boosted")
FIELDS = ("set", "split", "method", "columns", "kept", "seconds", *SCORES)


def split_rows(strata: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Return rows to choose by and unseen rows: two thirds and one third, at most `MOST_ROWS` of each."""
    from sklearn.model_selection import StratifiedShuffleSplit

    n = len(strata)
    unseen = min(round(SHARE_UNSEEN * n), MOST_ROWS)
    taught = min(n - unseen, MOST_ROWS)
    split = StratifiedShuffleSplit(1, train_size=taught, test_size=unseen, random_state=seed)
    learn, ask = next(split.split(np.zeros(n), strata))
    return np.sort(learn), np.sort(ask)


def facts(folder: Path) -> pd.DataFrame:
    """Return what the sets are, one row each."""
    found = []
    for name, (read, _) in SETS.items():
        data = read(folder)
        learn, ask = split_rows(data.strata, 0)
        events = int(data.y["event"].sum()) if data.kind == "survival" else ""
        found.append((name, data.kind, *data.table.shape, events, len(learn), len(ask)))
    return pd.DataFrame(found, columns=["set", "kind", "rows", "columns", "events", "taught", "unseen"])


def seen_in_residuals(folder: Path) -> pd.DataFrame:
    """Return the largest standardised rank correlation of a column with residuals of times, as means over five splits.

    The residuals are normal scores of martingale residuals, martingale residuals, which methods that know numbers only
    read, and deviance residuals (Therneau, Grambsch and Fleming 1990, doi:10.1093/biomet/77.1.147).
    """
    found = []
    for name, (read, _) in SETS.items():
        data = read(folder)
        if data.kind != "survival":
            continue
        largest = []
        for split in range(N_SPLITS // 2):
            learn, _ = split_rows(data.strata, seed_32("target kinds", name, split))
            target = data.target(learn)
            martingale, event = residuals(target), target.parts["event"].astype(float)
            logs = np.where(event > 0, np.log(np.maximum(event - martingale, 1e-9)), 0.0)
            deviance = np.sign(martingale) * np.sqrt(2 * np.maximum(-martingale - logs, 0.0))
            X = design(data.features(learn, learn)).matrix
            ranks = rankdata(X[:, X.std(axis=0) > 0], axis=0)
            read_as = np.column_stack([scores_of(np.round(martingale, 12)), martingale, deviance])
            related = np.corrcoef(ranks.T, read_as.T)[: ranks.shape[1], ranks.shape[1] :]
            largest.append(np.sqrt(len(learn)) * np.abs(related).max(axis=0))
        found.append((name, *np.round(np.mean(largest, axis=0), 2)))
    return pd.DataFrame(found, columns=["set", "normal scores", "martingale", "deviance"])


def chosen(method: str, table: Table, target: Any, seed: int) -> list[str]:
    """Return the features that a method keeps."""
    if method == ALL:
        return list(table.names)
    if method not in OURS:
        return chosen_by(method, table, target, seed)
    name, _, test = method.partition(" ")
    options = {"ci_test": test} if test else {"random_state": seed}
    selector = bf.get_selector(name, target_kind=target.target_kind, **options)
    y = {"target": target.numbers(), **target.parts} if target.parts else target.numbers()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unreliable tests of small tables; the sets are judged all the same
        return list(selector.fit(_frame(table), y).selected_features_)


def _frame(table: Table) -> pd.DataFrame:
    cells = {}
    for column in table.columns:
        cells[column.name] = np.array(column.levels, dtype=object)[column.values] if column.levels else column.numbers()
    return pd.DataFrame(cells)


def judged(data: PublicSet, learn: np.ndarray, ask: np.ndarray, kept: Sequence[str], seed: int) -> list[float]:
    """Return scores of the features on unseen rows, each by the linear and the boosted model of the kind."""
    train, test = (data.features(rows, learn).select(sorted(kept)) for rows in (learn, ask))
    own = (data.target(learn), data.target(ask))
    models, metrics = (get_target_kind(data.kind).models[0], "lightgbm"), [JUDGES[data.kind]]
    metrics += [ALSO] if data.kind == "survival" else []
    found = evaluate_split(train, own[0], test, own[1], models, metrics, data.kind, ("target kinds", seed))
    scores = []
    for metric in metrics:
        for model in models:
            one = next(row for row in found if (row["model"], row["metric"]) == (model, metric))
            if one["status"] != "ok":
                raise SystemExit(f"{model}: {one['reason']}")
            scores.append(one["value"] if data.kind == "survival" else 1 - one["value"] / one["prior"])
    return scores


def measure(path: Path, folder: Path, methods: Sequence[str], most_seconds: float) -> None:
    """Choose and judge until all is there or so many CPU seconds are spent; each result is on disk as it is made."""
    if not path.exists():
        path.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    done = {tuple(one) for one in pd.read_csv(path, dtype=str)[["set", "split", "method"]].to_numpy()}
    read: dict[str, Callable[[Path], PublicSet]] = {name: how for name, (how, _) in SETS.items()}
    began = time.process_time()
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for split in range(N_SPLITS):
            for name in read:
                asked = [method for method in methods if (name, str(split), method) not in done]
                if not asked:
                    continue
                data, seed = read[name](folder), seed_32("target kinds", name, split)
                learn, ask = split_rows(data.strata, seed)
                table, target = data.features(learn, learn), data.target(learn)
                judged_before: dict[frozenset[str], list[float]] = {}
                for method in asked:
                    start = time.process_time()
                    kept = chosen(method, table, target, seed)
                    seconds = time.process_time() - start
                    key = frozenset(kept)
                    if key not in judged_before:
                        judged_before[key] = judged(data, learn, ask, kept, seed)
                    scores = [f"{score:.4f}" for score in judged_before[key]]
                    scores += [""] * (len(SCORES) - len(scores))
                    writer.writerow((name, split, method, len(table), len(kept), f"{seconds:.3g}", *scores))
                    stream.flush()
                if time.process_time() - began > most_seconds:
                    print(f"stopped after {most_seconds:g} CPU seconds; call again to go on")
                    return
