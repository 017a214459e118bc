"""Slow, literal renderings of what the library computes fast. Nothing is shared with it but the random splits."""

import itertools
import math
import os
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pytest
from scipy import stats

from blanketflow.ci.base import CITest
from blanketflow.core.cards import Card
from blanketflow.core.parameters import anything
from blanketflow.core.results import CIResult, CIResults


def golden(name):
    """Return the path of a recorded peer result, or skip."""
    beside = Path(__file__).resolve().parents[2].parent / "shared" / "data"
    path = Path(os.environ.get("BLANKETFLOW_DATA", beside)).parent / "golden" / name
    if not path.exists():
        pytest.skip(f"recorded result {path} is not there")
    return path


class LiteralTree:
    """CART to purity by exact fractions: table order, first maximum, lowest threshold, no gain needed to split."""

    leaf_size = 1

    def fit(self, X, y):
        self.classes_ = sorted(set(y.tolist()))
        self.tree = self._grow([([float(v) for v in x], self.target(t)) for x, t in zip(X, y, strict=True)])
        return self

    def _grow(self, rows):
        targets = [target for _, target in rows]
        best = None
        if len(set(targets)) > 1:
            for j in range(len(rows[0][0])):
                values = sorted({x[j] for x, _ in rows})
                for low, high in itertools.pairwise(values):
                    sides = [t for x, t in rows if x[j] <= low], [t for x, t in rows if x[j] > low]
                    if min(map(len, sides)) < self.leaf_size:
                        continue
                    score = sum(Fraction(self.squares(side)) / len(side) for side in sides)
                    if best is None or score > best[0]:
                        best = (score, j, (low + high) / 2)
        if best is None:
            return targets
        _, j, cut = best
        left, right = [r for r in rows if r[0][j] <= cut], [r for r in rows if r[0][j] > cut]
        return j, cut, self._grow(left), self._grow(right)

    def leaf(self, x):
        node = self.tree
        while isinstance(node, tuple):
            j, cut, left, right = node
            node = left if x[j] <= cut else right
        return node


class LiteralCart(LiteralTree):
    """Classes: least Gini impurity is largest sum of squared counts over size."""

    target = staticmethod(lambda t: t)

    def squares(self, side):
        return sum(count * count for count in Counter(side).values())

    def predict_proba(self, X):
        return np.array([[self.leaf(x).count(c) / len(self.leaf(x)) for c in self.classes_] for x in X])


class LiteralRegression(LiteralTree):
    """Numbers: least squared error is largest squared sum over size."""

    target = staticmethod(lambda t: Fraction(float(t)))

    def squares(self, side):
        return sum(side) ** 2

    def predict(self, X):
        return [float(sum(self.leaf(x)) / len(self.leaf(x))) for x in X]


def mean_loss(model, X, y, task):
    """Return the mean log-loss with probabilities clipped at 1e-15, or the mean squared error."""
    if task == "regression":
        return math.fsum((float(p) - float(t)) ** 2 for p, t in zip(model.predict(X), y, strict=True)) / len(y)
    place = {label: k for k, label in enumerate(model.classes_)}
    losses = []
    for shares, label in zip(model.predict_proba(X), y, strict=True):
        share = shares[place[label]] if label in place else 0.0
        losses.append(-math.log(min(max(share, 1e-15), 1.0)))
    return math.fsum(losses) / len(y)


class OnlyClass:
    """What is learnt from one class."""

    def fit(self, X, y):
        self.classes_ = [y[0]]
        return self

    def predict_proba(self, X):
        return np.ones((len(X), 1))


def ppi_risks(X, y, tested, given, repeats, make_model, task):
    """Algorithm 1, lines 1-15: risks and permuted risks of each repeat, one fit a repeat; errors over the variance.

    Several tested columns take the values of the same other row.
    """
    together = tested if isinstance(tested, tuple) else (tested,)
    columns, unit = sorted({*together, *given}), float(np.var(y)) or 1.0 if task == "regression" else 1.0
    risks, permuted_risks = [], []
    for is_train, test_rows, permuted_rows in zip(
        repeats.is_train, repeats.test_rows, repeats.permuted_rows, strict=True
    ):
        train_rows = [i for i in range(len(y)) if is_train[i]]
        one_class = task == "classification" and len({y[i] for i in train_rows}) == 1
        model = OnlyClass() if one_class else make_model()
        model.fit(X[np.ix_(train_rows, columns)], y[train_rows])
        test = X[np.ix_(test_rows, columns)]
        shuffled = test.copy()
        for i, source in enumerate(permuted_rows):
            for j in together:
                shuffled[i, columns.index(j)] = X[source, j]
        risks.append(mean_loss(model, test, y[test_rows], task) / unit)
        permuted_risks.append(mean_loss(model, shuffled, y[test_rows], task) / unit)
    return risks, permuted_risks


def signed_rank_by_flips(differences):
    """One-sided Wilcoxon p by all sign flips; the ranks of zeros are split between both signs."""
    if not any(differences):
        return 1.0
    sizes = [abs(d) for d in differences]
    ranks = [sum(s < size for s in sizes) + (sizes.count(size) + 1) / 2 for size in sizes]

    def positive_sum(signs):
        return sum(r if s > 0 else r / 2 if s == 0 else 0.0 for s, r in zip(signs, ranks, strict=True))

    observed = positive_sum([(d > 0) - (d < 0) for d in differences])
    flips = list(itertools.product(*[(-1, 1) if d else (0,) for d in differences]))
    return sum(positive_sum(signs) >= observed for signs in flips) / len(flips)


def significance_of(differences, how, test_share):
    """Return the one-sided p-value of "the differences lie above zero"."""
    n = len(differences)
    if not any(differences):
        return 1.0
    if how == "corrected-t":
        mean = sum(differences) / n
        variance = sum((d - mean) ** 2 for d in differences) / (n - 1)
        if variance < 1e-30:
            return (
                signed_rank_by_flips(differences)
                if mean > 0 and n <= 13
                else stats.norm.sf(n**0.5)
                if mean > 0
                else 1.0
            )
        return float(stats.t.sf(mean / math.sqrt((1 / n + test_share) * variance), n - 1))
    if n <= 13:
        return signed_rank_by_flips(differences)
    test = stats.wilcoxon(differences, zero_method="zsplit", alternative="greater", method="asymptotic")
    return float(test.pvalue)


def literal_differences(X, y, tested, given, repeats, make_model, task):
    """Return permuted minus original risk of each repeat, rounded to 1e-12."""
    risks, permuted = ppi_risks(X, y, tested, given, repeats, make_model, task)
    return [round(b - a, 12) for a, b in zip(risks, permuted, strict=True)]


def ppi(X, y, tested, given, repeats, make_model, task, significance="wilcoxon"):
    """Algorithm 1: return the p-value and the mean risk difference."""
    differences = literal_differences(X, y, tested, given, repeats, make_model, task)
    share = len(repeats.test_rows[0]) / (len(y) - len(repeats.test_rows[0]))
    return significance_of(differences, significance, share), round(sum(differences) / len(differences), 12)


def ppfs_fold(X, y, repeats, make_model, task, alpha, significance="wilcoxon"):
    """Algorithm 2, lines 4-20: return admissions (most important first) and decisions (feature, p, kept) in order."""

    def test(i, given):
        return ppi(X, y, i, given, repeats, make_model, task, significance)

    grown = []
    for i in range(X.shape[1]):
        p, mean = test(i, [])
        if p <= alpha:
            grown.append((i, p, mean))
    grown.sort(key=lambda found: (found[1], -found[2], found[0]))
    blanket, decisions = [i for i, _, _ in grown], []
    for i, p, _ in reversed(grown):
        rest = [other for other in blanket if other != i]
        if rest:
            p, _ = test(i, rest)
        kept = not rest or p <= alpha
        decisions.append((i, p, kept))
        blanket = blanket if kept else rest
    return grown, decisions, blanket


def best_of(blankets):
    """Eq. 6-8: return the index of the blanket with the highest score, the first on ties."""
    frequency = Counter(feature for blanket in blankets for feature in blanket)
    z = [Fraction(sum(frequency[f] for f in b), len(b)) if b else Fraction(0) for b in blankets]
    return z.index(max(z))


def mutual_information(x, y):
    """Return the plug-in mutual information of two discrete columns in nats."""
    n, joint, of_x, of_y = len(x), Counter(zip(x, y, strict=True)), Counter(x), Counter(y)
    return math.fsum(c / n * math.log(c * n / (of_x[a] * of_y[b])) for (a, b), c in joint.items())


def g2_by_hand(x, y, given=()):
    """Return G2 = 2 sum O log(O/E) over the strata of the given columns."""
    strata = list(zip(*given, strict=True)) if len(given) else [()] * len(x)
    total = []
    for stratum in set(strata):
        pairs = [(a, b) for a, b, s in zip(x, y, strata, strict=True) if s == stratum]
        of_x, of_y, n = Counter(a for a, _ in pairs), Counter(b for _, b in pairs), len(pairs)
        total += [2 * c * math.log(c * n / (of_x[a] * of_y[b])) for (a, b), c in Counter(pairs).items()]
    return math.fsum(total)


@dataclass
class KnownTest(CITest):
    """A CI test whose p-values are known: `answer(x, y, given)` by name. It is not symmetric."""

    __module__ = "blanketflow.ci"  # so it works in the process of the search, which can say what it was asked

    card: ClassVar[Card] = Card("known", "known", "ci-test", "Known answers.", "none", measures=("p-value",))
    answer: Any = anything(None, "From names to p.")
    unreliable: str = "use"
    is_reliable: Any = anything(None, "From names to whether the test is reliable.")

    def prepare(self, table, seed, target):
        return _KnownEngine(self, table)


class _KnownEngine:
    def __init__(self, test, table):
        self.test, self.table = test, table
        self.asked = []

    def evaluate(self, candidates, target, given):
        return CIResults.from_rows(self._result(x, target, given) for x in candidates)

    def _result(self, x, y, given):
        query = (self.table.names[x], self.table.names[y], frozenset(self.table.names[z] for z in given))
        self.asked.append(query)
        p = self.test.answer(*query)
        return CIResult(0.0, p, math.log(p), 1.0, 10, self.test.is_reliable is None or self.test.is_reliable(*query))


class Separation:
    """d-separation in a DAG by the moral graph of the ancestors; p is 1 where separated, else 1e-9."""

    def __init__(self, arcs):
        self.arcs, self.known = arcs, {}

    def __call__(self, x, y, given):
        query = (frozenset((x, y)), given)
        if query not in self.known:
            self.known[query] = 1.0 if self._separated(x, y, given) else 1e-9
        return self.known[query]

    def _separated(self, x, y, given):
        ancestors, size = {x, y, *given}, 0
        while size < len(ancestors):
            size = len(ancestors)
            ancestors |= {parent for parent, child in self.arcs if child in ancestors}
        edges = [arc for arc in self.arcs if arc[1] in ancestors]
        edges += [(a, b) for a, c in edges for b, d in edges if c == d and a != b]
        reached, size = {x}, 0
        while size < len(reached):
            size = len(reached)
            for a, b in edges:
                if a in reached and b not in given:
                    reached.add(b)
                if b in reached and a not in given:
                    reached.add(a)
        return y not in reached


def connected(dag, x, given):
    """The nodes that are d-connected to a node given others, by Bayes-ball (Shachter 1998): none is entered twice."""
    opening, waiting = set(given), list(given)
    while waiting:
        new = set(dag.parents(waiting.pop())) - opening
        opening |= new
        waiting += new
    entered, waiting = set(), [(x, "from a child")]
    while waiting:
        node, way = step = waiting.pop()
        if step in entered:
            continue
        entered.add(step)
        if node not in given:
            waiting += [(child, "from a parent") for child in dag.children(node)]
        if node in opening if way == "from a parent" else node not in given:
            waiting += [(parent, "from a child") for parent in dag.parents(node)]
    return {node for node, _ in entered} - {x, *given}


def that_vary(table):
    """Return the table of the columns with two values, or None if there is none: others say nothing."""
    names = [column.name for column in table.columns if len(set(column.numbers().tolist())) > 1]
    return table.select(names) if names else None
