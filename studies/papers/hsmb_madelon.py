"""HSMB on Madelon by other widths, k and conditions: `nice python -m studies.papers.hsmb_madelon`, after paper_data.py.

The paper prints 38 features and 70.1 %, and ours are twice as many with 56 %. Here the method is written out once more,
with exact kernels on 1,000 rows, so that what the paper leaves open can be changed. A radial machine as wide as the
paper has it is trained on 1,600 rows with the features kept, and judged on the other 1,000. Renews a block of
printed.md.
"""

from __future__ import annotations

import itertools
import sys
import time
from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.spatial.distance import pdist
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from studies.papers.page import write
from studies.shared.page import ROOT, row

ROWS, TRAINED = 1000, 1600
#: A feature leaves if this holds of: its HSIC with the target; those of its candidate blanket with the target and with
#: the feature; that of both with the target.
Leaves = Callable[[float, float, float, float], bool]
CONDITIONS: dict[str, Leaves] = {
    "both conditions": lambda alone, blanket, replaced, joined: blanket > joined and min(blanket, replaced) > alone,
    "condition 1 only": lambda alone, blanket, replaced, joined: blanket > joined,
    "condition 2 only": lambda alone, blanket, replaced, joined: min(blanket, replaced) > alone,
}
BOTH, MEDIAN = "both conditions", 1.0


class Kernels:
    """Centred kernels of some rows: as wide as a share of the median distance, or as a fixed width (`fixed`)."""

    def __init__(self, X: np.ndarray, y: np.ndarray, width: float, fixed: bool) -> None:
        self.X, self.width, self.fixed = X, width, fixed
        self.target = self.centred((y[:, None] == y[None, :]).astype(np.float32))
        self.each = np.stack([self.of([i]) for i in range(X.shape[1])])
        self.with_target = self.each @ self.target
        self.between = self.each @ self.each.T

    def of(self, columns: list[int]) -> np.ndarray:
        """Return the flat centred kernel of the joint vector of some columns."""
        squares = np.zeros((len(self.X),) * 2, dtype=np.float32)
        for i in columns:
            squares += (self.X[:, i, None] - self.X[None, :, i]) ** 2
        width = self.width if self.fixed else self.width * np.sqrt(np.median(squares[squares > 0]))
        return self.centred(np.exp(-squares / (2 * width**2)))

    @staticmethod
    def centred(kernel: np.ndarray) -> np.ndarray:
        """Return H K H, flat."""
        means = kernel.mean(axis=0)
        return (kernel - means[:, None] - means[None, :] + means.mean()).ravel()


def kept(kernels: Kernels, k: int, leaves: Leaves, also_left: bool) -> list[int]:
    """Return the features that stay; `also_left` lets features that left stand in later candidate blankets."""
    standing, before = list[int](), list[int]()
    for i in np.argsort(-kernels.with_target, kind="stable").tolist():
        blanket = sorted(before if also_left else standing, key=lambda j: -kernels.between[i, j])[:k]
        before.append(i)
        if blanket:
            joint, joined = kernels.of(blanket), kernels.of([*blanket, i])
            said = (kernels.with_target[i], joint @ kernels.target, joint @ kernels.each[i], joined @ kernels.target)
            if leaves(*map(float, said)):
                continue
        standing.append(i)
    return standing


def main() -> None:
    """Try what the paper leaves open, one thing at a time, and write the table."""
    table = pd.read_parquet(ROOT / "data" / "madelon.parquet")
    y, X = table["target"].to_numpy(), table.drop(columns="target").to_numpy(dtype=float)
    # Madelon's 20 features that tell something about the target are those that the others predict (R-square 0.98).
    relevant = set(np.flatnonzero(np.diag(np.linalg.inv(np.corrcoef(X.T))) > 10).tolist())
    rows = np.random.default_rng(0).permutation(len(X))
    X, y = StandardScaler().fit(X[rows[:TRAINED]]).transform(X[rows]).astype(np.float32), y[rows]
    lines = [row("what is changed", "features", f"relevant of {len(relevant)}", "accuracy, %"), row(*["---"] * 4)]

    def judge(name: str, columns: list[int]) -> None:
        gamma = 1 / (2 * np.median(pdist(X[:TRAINED, columns])) ** 2)
        machine = SVC(gamma=gamma).fit(X[:TRAINED, columns], y[:TRAINED])
        right = 100 * machine.score(X[TRAINED:, columns], y[TRAINED:])
        lines.append(row(name, len(columns), len(relevant & set(columns)), f"{right:.1f}"))
        print(f"{lines[-1]} {time.process_time():.0f} CPU s", file=sys.stderr)

    exact = Kernels(X[:ROWS], y[:ROWS], MEDIAN, fixed=False)
    judge("nothing", kept(exact, 3, CONDITIONS[BOTH], also_left=False))
    for k in (1, 2, 4, 5):
        judge(f"k = {k}", kept(exact, k, CONDITIONS[BOTH], also_left=False))
    for name in list(CONDITIONS)[1:]:
        judge(name, kept(exact, 3, CONDITIONS[name], also_left=False))
    judge("features that left stand for others", kept(exact, 3, CONDITIONS[BOTH], also_left=True))
    for fixed, width in itertools.product((False, True), (0.5, 0.25, 2.0)):
        unit = "fixed width" if fixed else "width, of the median distance"
        other = Kernels(X[:ROWS], y[:ROWS], width, fixed)
        judge(f"{unit}: {width:g}", kept(other, 3, CONDITIONS[BOTH], also_left=False))
    judge("the first 38 by HSIC, none removed", np.argsort(-exact.with_target, kind="stable")[:38].tolist())
    judge(f"the {len(relevant)} relevant ones", sorted(relevant))
    judge("all", list(range(X.shape[1])))
    write("hsmb madelon", "\n".join(lines))


if __name__ == "__main__":
    main()
