"""Whether the score that `auto` prints is the one on fresh rows: `python -m studies.answer.honest_scores`.

Tables of ten kinds are simulated. `auto` answers, the models of its panel are fitted again to what it keeps, and judged
on 20,000 fresh rows. Prints the printed score and difference less the true ones, and how often the 95 % interval of the
difference holds the truth, and writes that to README.md. What is measured is kept, so that a run goes on where
the last one ended.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor, as_completed
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pandas as pd

import blanketflow as bf
from blanketflow.core.convert import as_table
from blanketflow.core.seeds import derive_rng, seed_32
from blanketflow.core.table import Column, Table, column_from_array
from blanketflow.selectors.judged.judged_round import Judge, Round
from blanketflow.selectors.judged.portfolio import Rows
from blanketflow.selectors.judged.yardstick import LOG_LOSS, judged_target, ranked_target, roc_auc, yardstick
from studies.shared.page import ROOT, row, write

RESULTS = ROOT / "studies" / "answer" / "honest_scores.parquet"
PAGE = ROOT / "studies" / "answer" / "README.md"
FRESH = 20_000
ROWS = (200, 300, 450, 600)
#: Every third table of these kinds has a numeric target; those of the others are classes.
NUMERIC_TOO = ("linear", "bent", "interactions", "heavy tails", "labels", "few rows", "wide noise", "redundant")


def _normal(rng: np.random.Generator, n: int, d: int = 12) -> np.ndarray:
    return rng.normal(size=(n, d))


def _redundant(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.normal(size=(n, 4)).repeat(4, axis=1) + 0.5 * rng.normal(size=(n, 16))


def _linear(X: np.ndarray) -> np.ndarray:
    return X[:, 0] + 0.8 * X[:, 1] - 0.6 * X[:, 2] + 0.4 * X[:, 3]


def _copied(X: np.ndarray) -> np.ndarray:
    return _linear(X[:, ::4])


def _bent(X: np.ndarray) -> np.ndarray:
    return X[:, 0] ** 2 + np.abs(X[:, 1]) + np.sin(2 * X[:, 2]) + 0.5 * X[:, 3] - 1.8


def _interactions(X: np.ndarray) -> np.ndarray:
    return X[:, 0] * X[:, 1] + X[:, 2] * X[:, 3] + 0.5 * X[:, 0]


def _heavy(rng: np.random.Generator, n: int) -> np.ndarray:
    return rng.standard_t(3, size=(n, 12))


#: How the columns of each kind are drawn, and what the target is made of.
KINDS: dict[str, tuple[Callable[..., np.ndarray], Callable[[np.ndarray], np.ndarray]]] = {
    "linear": (_normal, _linear),
    "bent": (_normal, _bent),
    "interactions": (_normal, _interactions),
    "heavy tails": (_heavy, _linear),
    "rare class": (_normal, _linear),
    "many classes": (_normal, _linear),
    "labels": (_normal, _linear),
    "few rows": (_normal, _linear),
    "wide noise": (lambda rng, n: _normal(rng, n, 80), _linear),
    "redundant": (_redundant, _copied),
}


def simulated(kind: str, number: int) -> tuple[pd.DataFrame, np.ndarray, int]:
    """Return features and target, fresh rows behind the others, and the number of the others."""
    rng = derive_rng("honest scores", kind, number)
    draw, score = KINDS[kind]
    n = int(rng.integers(40, 91)) if kind == "few rows" else int(rng.choice(ROWS[1:] if kind == "rare class" else ROWS))
    X, strength = draw(rng, n + FRESH), float(rng.choice([0.6, 1.0, 1.6]))
    frame, explained = pd.DataFrame(X, columns=[f"x{j}" for j in range(X.shape[1])]), strength * score(X)
    if kind == "labels":  # half of the columns are cut, at places and with effects of chance
        for j in range(0, X.shape[1], 2):
            n_levels = int(rng.integers(2, 9))
            codes = rng.permutation(n_levels)[rng.integers(0, n_levels, len(X))]
            explained += strength * (rng.normal(size=n_levels)[codes] if j < 5 else 0.0)
            frame[f"x{j}"] = np.array([f"level {i}" for i in range(n_levels)])[codes]
    if kind in NUMERIC_TOO and number % 3 == 2:
        if kind == "heavy tails" and number % 2:
            return frame, explained + rng.standard_t(3, size=len(X)), n
        y = explained + rng.normal(size=len(X))
        return frame, np.exp(y) if kind == "heavy tails" else y, n
    if kind == "many classes":
        effects = strength * rng.normal(size=(4, 6))
        return frame, np.char.mod("c%d", (X[:, :4] @ effects + rng.gumbel(size=(len(X), 6))).argmax(axis=1)), n
    y = explained + rng.logistic(size=len(X))
    limit = np.quantile(y, 0.9 if kind == "rare class" else 0.5)
    return frame, np.where(y > limit, "yes", "no"), n


def truth(table: Table, y: np.ndarray | Column, n: int, kept: list[str], seed: int) -> dict[str, float]:
    """Return the score on fresh rows of the panel's models, learnt with what is kept, with all features and with none.

    They learn from the first n rows; what decides between sets there is the yardstick of the score here.
    """
    target = y if isinstance(y, Column) else column_from_array("y", y)
    metric = yardstick(target.take(np.arange(n)))
    own = judged_target(target, metric)
    judging = Judge(Rows(table, ranked_target(own), seed), own, metric=metric)
    order = np.array([*map(table.names.index, kept), *(j for j, x in enumerate(table.names) if x not in kept)])
    this = Round(np.arange(n), np.arange(n, target.n_rows), seed, orders={"kept": order})
    found = {len(chosen): losses for chosen, losses in judging.judged(this, ["kept"], [len(kept)])["losses"]}
    sizes = {"chosen": len(kept), "all": len(order), "none": 0}
    losses = np.stack([found[size] for size in sizes.values()])
    fresh = judging.whole.y[n:]
    is_ranked = metric == LOG_LOSS
    by_model = roc_auc(losses[:, :, 1:], fresh) if is_ranked else 1 - losses[:, :, 0].mean(axis=2)
    return dict(zip(sizes, by_model.mean(axis=1).tolist(), strict=True)) | {"metric": metric}


def measured(kind: str, number: int) -> dict[str, object]:
    """Return what is printed of one table, and what is true."""
    began = time.process_time()
    frame, y, n = simulated(kind, number)
    fitted = bf.Auto(random_state=number).fit(frame[:n], y[:n])
    seconds = time.process_time() - began
    said = {of["model"]: of for of in fitted.verdict_["scores"]}
    printed, mean = said["corrected"], said["mean"]
    reference = "none" if "none" in printed else "all"
    kept = fitted.selected_features_
    true = truth(as_table(frame), y, n, kept, seed_32("honest scores", kind, number))
    found = {"kind": kind, "number": number, "metric": true["metric"], "n": n, "kept": len(kept), "against": reference}
    found |= {"printed": printed["chosen"], "of_reference": printed[reference], "not_corrected": mean["chosen"]}
    found |= {name: printed[name] for name in ("difference", "low", "high")}
    found |= {"true": true["chosen"], "true_of_reference": true[reference], "seconds": seconds}
    return found | {"true_difference": true["chosen"] - true[reference]}


def table_of(found: pd.DataFrame) -> str:
    """Return the mean errors and the coverage of each kind, of each yardstick, and of all, as a table."""
    found = found.assign(
        score=found["printed"] - found["true"],
        not_corrected=found["not_corrected"] - found["true"],
        difference=found["difference"] - found["true_difference"],
        below=found["true_difference"] < found["low"],
        above=found["true_difference"] > found["high"],
    )
    means = {"score too high by": "score", "not corrected": "not_corrected", "difference too high by": "difference"}
    lines = [row("kind", "tables", *means, "truth below", "above", "within"), row(*["---"] * 8)]
    parts = [(f"{kind}, {metric}", part) for (metric, kind), part in found.groupby(["metric", "kind"])]
    for name, part in [*parts, *found.groupby("metric"), ("all", found)]:
        errors = [_mean(part[of]) for of in means.values()]
        below, above = part["below"].sum(), part["above"].sum()
        lines.append(
            row(name, f"{len(part)}", *errors, f"{below}", f"{above}", f"{1 - (below + above) / len(part):.2f}")
        )
    return "\n".join(lines)


def _mean(values: pd.Series) -> str:
    half = 1.96 * values.sem()
    return f"{values.mean():+.3f}" + (f" ± {half:.3f}" if half > 0 else "")


def main() -> None:
    """Measure what is missing, and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tables", type=int, default=12, help="of each kind")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=[*KINDS])
    parser.add_argument("--workers", type=int, default=1)
    parser.add_argument("--budget-minutes", type=float, default=60.0, help="no table is begun later")
    parser.add_argument("--results", type=Path, default=RESULTS)
    options = parser.parse_args()
    rows = pd.read_parquet(options.results).to_dict("records") if options.results.exists() else []
    done, stop = {(of["kind"], of["number"]) for of in rows}, time.monotonic() + 60 * options.budget_minutes
    asked = [(kind, i) for i in range(options.tables) for kind in options.kinds if (kind, i) not in done]
    with ProcessPoolExecutor(options.workers, mp_context=get_context("spawn")) as pool:
        running = set()
        while (asked and time.monotonic() < stop) or running:
            while asked and len(running) < 2 * options.workers and time.monotonic() < stop:
                running.add(pool.submit(measured, *asked.pop(0)))
            ended = next(as_completed(running))
            running.remove(ended)
            rows.append(ended.result())
            if len(rows) % 10 == 0 or not running:
                pd.DataFrame(rows).sort_values(["kind", "number"]).to_parquet(options.results, index=False)
    table = table_of(pd.DataFrame(rows))
    print(table)
    if options.results == RESULTS:
        write(PAGE, {"honest scores": table})


if __name__ == "__main__":
    main()
