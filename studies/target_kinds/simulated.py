"""Blankets of simulated targets of each kind, searched as such and as what people make of them.

A random graph has 15 columns and a target with parents, a child and a spouse; two of three columns are numbers, the
others yes or no. Parents act on the target by the regression of its kind. Children depend on the number that `EFFECT`
names, of the event time also where it is censored.
"""

from __future__ import annotations

import csv
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import brentq

import blanketflow as bf
from blanketflow.ci import get_ci_test
from blanketflow.core.graph import DAG
from blanketflow.core.seeds import derive_rng

N_COLUMNS, ALPHA = 15, 0.01
#: Networks of each number of rows.
N_NETWORKS = {200: 20, 500: 20, 2_000: 7, 5_000: 7}
TARGET = "target"
#: Of each kind, what children depend on, in words.
EFFECT = {
    "survival": "the logarithm of the time to the event",
    "count": "log(1 + count / exposure)",
    "ordered": "the place of the class",
    "share": "the share",
    "positive": "the logarithm",
}
#: Searches and tests of the target as its kind; the first test is that of all methods.
METHODS = ("iamb", "hiton-mb", "inter-iamb", "mmmb")
BY_SUBSETS = ("hiton-mb", "mmmb")
TESTS = {"lr-mixed": METHODS, "spline": METHODS[:2], "gcm": METHODS[:2]}
FIELDS = ("kind", "rows", "network", "form", "test", "method", "true", "found", "hits", "seconds")


# --- networks ---------------------------------------------------------------------------------------------------------


def random_graph(number: int) -> DAG:
    """Return a graph of columns x1, ... and the target, which has two or three parents, a child and a spouse."""
    for attempt in range(1000):
        rng = derive_rng("target kinds", number, attempt)
        order = [f"x{j}" for j in rng.permutation(N_COLUMNS) + 1]
        order.insert(int(rng.integers(4, 10)), TARGET)
        pairs = [(a, b) for at, b in enumerate(order) for a in order[:at]]
        arcs = [pairs[at] for at in rng.choice(len(pairs), int(1.25 * len(order)), replace=False)]
        dag = DAG(arcs, order)
        children = dag.children(TARGET)
        spouses = {parent for child in children for parent in dag.parents(child)} - {TARGET}
        if 2 <= len(dag.parents(TARGET)) <= 3 and 1 <= len(children) <= 2 and 1 <= len(spouses) <= 3:
            return dag
    raise SystemExit("no graph was drawn")


def drawn(kind: str, number: int, rows: int) -> tuple[DAG, pd.DataFrame, Any]:
    """Return the graph of a network, columns, and the target as `fit` takes it."""
    dag, rng = random_graph(number), derive_rng("target kinds rows", kind, number, rows)
    of_network = derive_rng("target kinds effects", number)
    effects = {arc: of_network.uniform(0.5, 0.9) * of_network.choice([-1.0, 1.0]) for arc in sorted(dag.arcs)}
    labelled = {name for at, name in enumerate(sorted(dag.nodes)) if at % 3 == 0 and name != TARGET}
    seen: dict[str, np.ndarray] = {}
    columns: dict[str, np.ndarray] = {}
    y: Any = None
    for name in dag.topological_order():
        score = sum((effects[parent, name] * seen[parent] for parent in dag.parents(name)), np.zeros(rows))
        if name == TARGET:
            y, effect = DRAWN[kind](rng, score, number)
        elif name in labelled:
            effect = (1.7 * score + rng.logistic(size=rows) > 0).astype(float)
            columns[name] = np.where(effect > 0, "yes", "no")
        else:
            effect = columns[name] = score + rng.normal(size=rows)
        seen[name] = (effect - effect.mean()) / max(effect.std(), 1e-9)
    return dag, pd.DataFrame(columns)[sorted(columns, key=lambda name: int(name[1:]))], y


def _survival(rng: np.random.Generator, score: np.ndarray, number: int) -> tuple[Any, np.ndarray]:
    happens = rng.exponential(np.exp(-score))
    share = derive_rng("target kinds censored", number).uniform(0.3, 0.5)
    drawn_ends = rng.exponential(size=len(score))
    scale = np.exp(brentq(lambda log: (drawn_ends * np.exp(log) < happens).mean() - share, -20, 20, xtol=1e-3))
    ends = drawn_ends * scale
    return {"time": np.minimum(happens, ends), "event": happens <= ends}, np.log(happens)


def _count(rng: np.random.Generator, score: np.ndarray, number: int) -> tuple[Any, np.ndarray]:
    exposure = rng.uniform(0.5, 2.0, len(score))
    spread = rng.gamma(2.0, 0.5, len(score)) if number % 2 else 1.0  # negative binomial in every other network
    count = rng.poisson(2.0 * exposure * np.exp(score) * spread)
    return {TARGET: count, "exposure": exposure}, np.log1p(count / exposure)


def _ordered(rng: np.random.Generator, score: np.ndarray, number: int) -> tuple[Any, np.ndarray]:
    place = np.searchsorted([-1.5, 0.0, 1.5], 1.7 * score + rng.logistic(size=len(score)))
    return place, place.astype(float)


def _share(rng: np.random.Generator, score: np.ndarray, number: int) -> tuple[Any, np.ndarray]:
    mean = np.clip(1 / (1 + np.exp(-score)), 0.01, 0.99)
    share = rng.beta(4 * mean, 4 * (1 - mean))
    return share, share


def _positive(rng: np.random.Generator, score: np.ndarray, number: int) -> tuple[Any, np.ndarray]:
    positive = np.exp(score) * rng.gamma(1.5, 1.0, len(score)) + 1e-9
    return positive, np.log(positive)


DRAWN: dict[str, Callable[..., tuple[Any, np.ndarray]]] = {
    "survival": _survival,
    "count": _count,
    "ordered": _ordered,
    "share": _share,
    "positive": _positive,
}


# --- searches ---------------------------------------------------------------------------------------------------------


def _quarters(values: np.ndarray) -> np.ndarray:
    bounds = np.unique(np.quantile(values, (0.25, 0.5, 0.75)))
    return np.searchsorted(bounds, values, side="left").astype(str)


#: Of each kind, what else the target is searched as: a name, what is made of it, and the kind.
OTHER_FORMS: dict[str, dict[str, tuple[Callable[[Any], np.ndarray], str]]] = {
    "survival": {
        "event alone": (lambda y: np.where(y["event"], "yes", "no"), "classification"),
        "log time": (lambda y: np.log(y["time"]), "regression"),
    },
    "count": {
        "number": (lambda y: y[TARGET].astype(float), "regression"),
        "quarters": (lambda y: _quarters(y[TARGET]), "classification"),
    },
    "ordered": {
        "number": (lambda y: y.astype(float), "regression"),
        "classes": (lambda y: y.astype(str), "classification"),
    },
    "share": {"number": (lambda y: y, "regression"), "quarters": (_quarters, "classification")},
    "positive": {"number": (lambda y: y, "regression"), "quarters": (_quarters, "classification")},
}


def searches(kind: str) -> Iterator[tuple[str, str, str]]:
    """Yield the form of the target, the test and the method of each search."""
    for test, methods in TESTS.items():
        yield from ((kind, test, method) for method in methods)
    for form in OTHER_FORMS[kind]:
        yield from ((form, "lr-mixed", method) for method in METHODS[:2])


def found_by(kind: str, form: str, test: str, method: str, frame: pd.DataFrame, y: Any) -> tuple[list[str], float]:
    """Return the columns that a search finds, and its CPU seconds."""
    make, of_kind = OTHER_FORMS[kind].get(form, (lambda y: y, kind))
    asked = make(y)
    selector = bf.get_selector(method, ci_test=test, alpha=ALPHA, target_kind=of_kind)
    began = time.process_time()
    found = selector.fit(frame, asked).selected_features_
    return list(found), time.process_time() - began


def oracle_failures() -> tuple[int, list[str]]:
    """Return how many searches the oracle answered, and those whose blanket is not that of the graph."""
    n, failures = 0, []
    for kind in DRAWN:
        for number in range(max(N_NETWORKS.values())):
            dag, frame, y = drawn(kind, number, 50)
            wanted = set(dag.markov_blanket(TARGET)["blanket"])
            for method in METHODS:
                test = get_ci_test("oracle", arcs=dag.arcs)
                no_limit = {"max_k": None} if method in BY_SUBSETS else {}  # three given columns may be too few
                found = bf.get_selector(method, ci_test=test, target_kind=kind, **no_limit).fit(frame, y)
                n += 1
                if set(found.selected_features_) != wanted:
                    failures.append(f"{kind} {number} {method}")
    return n, failures


def measure(path: Path, most_seconds: float) -> None:
    """Search until all is there or so many CPU seconds are spent; each result is on disk as soon as it is made."""
    done = {tuple(one) for one in pd.read_csv(path, dtype=str)[list(FIELDS[:6])].to_numpy()} if path.exists() else set()
    if not done:
        path.write_text(",".join(FIELDS) + "\n", encoding="utf-8")
    for kind in DRAWN:  # compiles kernels, which is not counted
        _, frame, y = drawn(kind, 0, 200)
        for form, test, method in searches(kind):
            if method == METHODS[1]:
                found_by(kind, form, test, method, frame, y)
    began = time.process_time()
    with path.open("a", encoding="utf-8", newline="") as stream:
        writer = csv.writer(stream, lineterminator="\n")
        for number in range(max(N_NETWORKS.values())):
            for kind in DRAWN:
                for rows in (rows for rows, n in N_NETWORKS.items() if number < n):
                    asked = [one for one in searches(kind) if (kind, str(rows), str(number), *one) not in done]
                    if not asked:
                        continue
                    dag, frame, y = drawn(kind, number, rows)
                    true = set(dag.markov_blanket(TARGET)["blanket"])
                    for form, test, method in asked:
                        found, seconds = found_by(kind, form, test, method, frame, y)
                        sizes = (len(true), len(found), len(true & set(found)))
                        writer.writerow((kind, rows, number, form, test, method, *sizes, f"{seconds:.3g}"))
                        stream.flush()
                    if time.process_time() - began > most_seconds:
                        print(f"stopped after {most_seconds:g} CPU seconds; call again to go on")
                        return
