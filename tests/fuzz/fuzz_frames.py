"""Target: what people give the library. The bytes choose a call, the rows, the target, and a column each."""

import itertools
import warnings

import numpy as np
import pandas as pd
from oracle import bounded, refused_or

import blanketflow as bf

N_ROWS = (8, 15, 30, 60, 150)
MISSING = ("error", "impute", "drop", "pairwise")
#: Columns as people have them. A new one stands last: `found/` holds inputs by these places.
COLUMNS = (
    lambda rng, n: rng.normal(size=n),
    lambda rng, n: rng.integers(0, 3, n),
    lambda rng, n: rng.random(n) < 0.5,
    lambda rng, n: rng.choice(["a", "b", "é"], n),
    lambda rng, n: pd.Categorical(rng.choice(["a", "b", "c"], n)),
    lambda rng, n: np.full(n, 3.0),
    lambda rng, n: rng.normal(size=n) * 1e300,
    lambda rng, n: rng.normal(size=n) * 1e-300,
    lambda rng, n: np.exp(10 * rng.normal(size=n)),
    lambda rng, n: np.where(rng.random(n) < 0.2, np.nan, rng.normal(size=n)),
    lambda rng, n: pd.array(rng.integers(0, 5, n), "Int64"),
    lambda rng, n: pd.array([None, *rng.integers(0, 2, n - 1).astype(bool)], "boolean"),
    lambda rng, n: pd.array(rng.choice(["x", "y"], n), "string"),
    lambda rng, n: [f"id {row}" for row in range(n)],
    lambda rng, n: pd.Categorical(rng.integers(1, 4, n), ordered=True),
    lambda rng, n: np.where(rng.random(n) < 0.1, None, rng.choice(["a", "b"], n)),
    lambda rng, n: rng.choice([0.0, np.inf], n, p=[0.95, 0.05]),
)
TARGETS = (
    lambda rng, signal: signal,
    lambda rng, signal: signal > 0,
    lambda rng, signal: (signal > 0).astype(int),
    lambda rng, signal: np.select([signal > 0.5, signal < -0.5], ["high", "low"], "middle"),
    lambda rng, signal: np.round(signal).astype(int),
    lambda rng, signal: np.zeros(len(signal)),
    lambda rng, signal: np.where(rng.random(len(signal)) < 0.1, np.nan, signal),
)
#: Methods that need no other program, network or minutes.
METHODS = [name for name in bf.list_selectors()["id"] if name not in ("true-blanket", "auto")]


def one_input(data: bytes) -> None:
    """Make a frame and a target, and search; nothing but our own errors and scikit-learn's of `y` may come of it."""
    if len(data) < 6:
        return
    call, method, size, target, options, *columns = data
    rng, n = np.random.default_rng(list(data)), N_ROWS[size % len(N_ROWS)]
    frame = pd.DataFrame({f"x{j}": COLUMNS[c % len(COLUMNS)](rng, n) for j, c in enumerate(columns[:6])})
    first = frame["x0"].to_numpy() if frame["x0"].dtype.kind in "fiu" else pd.factorize(frame["x0"])[0]
    first = np.where(np.isfinite(first), first, 0)
    signal = 3 * (first / (np.abs(first).max() or 1)) + 0.5 * rng.normal(size=n)
    y = pd.Series(TARGETS[target % len(TARGETS)](rng, signal), name=("y", "x0", None)[target % 3])
    name, missing = METHODS[method % len(METHODS)], MISSING[options % len(MISSING)]
    calls = (
        lambda: bf.get_selector(name, missing=missing, n_folds=2 * (options % 8 > 5)).fit(frame, y).transform(frame),
        lambda: bf.blankets(frame, ("iamb", "hiton-mb", "mrmr", "gs")[method % 4]),
        lambda: bf.select(frame, y, time_limit=5, n_jobs=1, missing=("impute", "drop")[options % 2]),
        lambda: bf.compare(frame, y, [name], models=["tree"], evaluation=2, missing=missing, final=False),
    )
    with warnings.catch_warnings(), bounded(cpu_seconds=60):
        warnings.simplefilter("ignore")
        try:
            refused_or(calls[(0, 0, 0, 1, 2, 3)[call % 6]])
        except ValueError as error:  # scikit-learn's own words about y
            if "Input y contains NaN" not in str(error):
                raise


def seeds() -> dict[str, bytes]:
    """Return inputs that end in an answer: each kind of column beside a number, and each call."""
    iamb = METHODS.index("iamb")
    good = {f"column-{j}": bytes([0, iamb, 3, 2, 1, 0, j]) for j in range(len(COLUMNS) - 1)}
    return good | {f"call-{j}": bytes([j, iamb, 3, 2, 1, 0, 0]) for j in (3, 4, 5)}


def words() -> list[str]:
    """Return pairs of kinds of columns, which one byte at a time would seldom bring together."""
    return ["".join(map(chr, pair)) for pair in itertools.product(range(len(COLUMNS)), repeat=2)]
