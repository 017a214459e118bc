"""How estimates of mutual information rank noise of many levels and signal: `python -m studies.chance`.

Prints the tables of README.md; two minutes. In the first, a signal in five bins and ten columns of noise of r
levels are ranked by their mutual information with two classes; in the second, a signal of r levels and ten columns of
noise in five bins. The third ranks whole tables by each method, as published and by default.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd

import blanketflow as bf
from studies.shared.page import row

ESTIMATES = ("plug-in", "Miller-Madow", "chi-square", "permutation", "+ 1.64 sd", "+ 2.33 sd")
METHODS = ("mim", "mifs", "mrmr", "cife", "jmi", "cmim", "disr", "if", "mimr", "mri", "relax-mrmr", "koller-sahami")
N_NOISE = 10


def estimates(X: pd.DataFrame, y: np.ndarray) -> dict[str, np.ndarray]:
    """Return the estimates of I(X;Y) of each column of labels, in nats."""
    n, bound = len(y), bf.get_ci_test("g2").bind(X.assign(y=y))
    xs = np.arange(X.shape[1])
    plug_in, chance = bound.mutual_information(xs, "y"), bound.chance(xs, "y")
    tables = [pd.crosstab(X[name], y).to_numpy() for name in X]
    free = np.array([np.count_nonzero(t) - t.shape[0] - t.shape[1] + 1 for t in tables])
    dof = np.array([(t.shape[0] - 1) * (t.shape[1] - 1) for t in tables])
    beyond = plug_in - chance.mean
    found = plug_in, plug_in - free / (2 * n), plug_in - dof / (2 * n), beyond
    limits = (beyond - z * chance.deviation for z in (1.64, 2.33))
    return dict(zip(ESTIMATES, (*found, *limits), strict=True))


def bins(values: np.ndarray, n_levels: int) -> np.ndarray:
    """Return the bins of equal counts of some values."""
    return np.argsort(np.argsort(values)) * n_levels // len(values)


def noise(rng: np.random.Generator, n: int, n_levels: int) -> np.ndarray:
    """Return labels that tell nothing; as many as rows name the rows."""
    return rng.permutation(n) if n_levels == n else rng.integers(0, n_levels, n)


def beaten(n: int, of_signal: int, of_noise: int, strength: float, samples: int) -> dict[str, float]:
    """Return the share of samples in which a column of noise is ranked before the signal, by estimate."""
    rng, lost = np.random.default_rng([n, of_signal, of_noise]), dict.fromkeys(ESTIMATES, 0)
    for _ in range(samples):
        signal, rest = rng.normal(size=(2, n))
        y = np.where(strength * signal + np.sqrt(1 - strength**2) * rest > 0, "p", "q")
        X = pd.DataFrame({f"noise{i}": noise(rng, n, of_noise) for i in range(N_NOISE)})
        X["signal"] = bins(signal, of_signal)
        for name, found in estimates(X.astype("category"), y).items():
            lost[name] += bool(found[:-1].max() >= found[-1])
    return {name: count / samples for name, count in lost.items()}


def found_of_five(name: str, information: str, n_levels: int, samples: int) -> float:
    """Return how many of five signals are among the first five of 30 columns, half of the noise of many levels."""
    n, found = 300, []
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        X = pd.DataFrame(rng.normal(size=(n, 30)), columns=[f"x{i}" for i in range(30)])
        y = np.where(X.iloc[:, 25:].sum(axis=1) + 1.5 * rng.normal(size=n) > 0, "p", "q")
        if n_levels:
            labels = pd.DataFrame({f"x{i}": noise(rng, n, n_levels) for i in range(12)}).astype("category")
            X = X.assign(**{name: labels[name] for name in labels})
        kept = bf.get_selector(name, n_features=5, information=information).fit(X, y).selected_features_
        found.append(len({*kept} & {f"x{i}" for i in range(25, 30)}))
    return float(np.mean(found))


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=100)
    samples = parser.parse_args().samples
    warnings.simplefilter("ignore")
    for title, cases in (
        ("noise of r levels", [(n, 5, r) for n in (100, 200, 1000) for r in (5, 20, n // 3, n // 2, n)]),
        ("signal of r levels", [(n, r, 5) for n in (100, 200, 1000) for r in (2, 10, 20, 40)]),
    ):
        for strength in (0.35, 0.6):
            print(f"\n{title}, correlation {strength}\n")
            print(row("rows", "r", *ESTIMATES))
            print(row(*["---:"] * (2 + len(ESTIMATES))))
            for n, of_signal, of_noise in cases:
                lost = beaten(n, of_signal, of_noise, strength, samples)
                r = of_noise if "noise" in title else of_signal
                print(row(f"{n:,}", r, *(f"{100 * lost[name]:.0f} %" for name in ESTIMATES)), flush=True)
    print(
        "\n" + row("method", *(f"{kind}, {how}" for kind in ("numbers", "labels") for how in ("published", "default")))
    )
    print(row("---", *["---:"] * 4))
    for name in METHODS:
        cells = [
            f"{found_of_five(name, how, n_levels, max(1, samples // 4)):.2f}"
            for n_levels in (0, 100)
            for how in ("plug-in", "adjusted")
        ]
        print(row(f"`{name}`", *cells), flush=True)
    kept = {how: [] for how in ("published", "default")}
    for seed in range(samples):
        rng = np.random.default_rng(seed)
        X, y = rng.normal(size=(200, 30)), rng.integers(0, 2, 200)
        kept["default"].append(len(bf.FCBF().fit(X, y).selected_features_))
        literally = bf.FCBF(information="plug-in", alpha=None)
        kept["published"].append(len(literally.fit(X, y).selected_features_))
    print("\nfcbf keeps of 30 columns of noise:", {how: round(float(np.mean(sizes)), 2) for how, sizes in kept.items()})


if __name__ == "__main__":
    main()
