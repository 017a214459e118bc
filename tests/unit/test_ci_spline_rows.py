"""What the spline test confirms on rows, against the same steps by projections of whole columns, one by one."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

import blanketflow as bf
from blanketflow.ci.spline_functions import functions_of
from blanketflow.ci.splines import spline_given, spline_screen
from blanketflow.ci.splines.spline_given import CUT, LEAST_CUT, GivenFunctions, least_told
from blanketflow.ci.splines.spline_screen import SplineScreen
from blanketflow.core.convert import as_table


def bent(n=240, seed=0):
    """Return x, y and others that steps, products, fine waves and curves of sums of z and w move."""
    rng = np.random.default_rng(seed)
    z, w = rng.normal(size=(2, n))
    columns = {
        "x": z * w + np.sin(8 * z) + 0.5 * rng.normal(size=n),
        "y": 2.0 * (z > 0.3) + z**2 + 0.5 * rng.normal(size=n),
        "u": 3 / (1 + np.exp(-4 * z - 4 * w)) + 0.3 * rng.normal(size=n),
        "v": z + w + rng.normal(size=n),
        "z": z,
        "w": w,
    }
    return pd.DataFrame(columns)


class ByHand:
    """The confirmation of a pair of numbers given two others, by least squares on rows."""

    def __init__(self, X, x, y):
        self.X, self.n, self.kinds = X, len(X), []
        self.z = np.column_stack([np.ones(self.n), *(self.functions(name, 4) for name in ("z", "w"))])
        one, two = (self.functions(name, 4) for name in (x, y))
        self.sides = np.column_stack([one[:, 0], two[:, 0]])
        fitted = self.sides - self.left(self.sides)
        self.grow(fitted / np.linalg.norm(fitted, axis=0))
        self.one, self.two = self.left(one), self.left(two)

    def functions(self, name, most):
        return functions_of(as_table(self.X[[name]])[0]).T[:, :most]

    def left(self, functions):
        basis = np.linalg.qr(self.z)[0]
        return functions - basis @ (basis.T @ functions)

    def tells(self, functions, level, kind):
        found = np.linalg.qr(self.left(functions))[0]
        sides = self.left(self.sides)
        share = ((found.T @ (sides / np.linalg.norm(sides, axis=0))) ** 2).sum(axis=0).max()
        q, rank = found.shape[1], self.z.shape[1] - 1 + found.shape[1]
        is_told = share * (self.n - 1 - rank) >= stats.chi2.isf(level, q) * (1 - share)
        if is_told:
            self.z = np.column_stack([self.z, found])
            self.kinds.append(kind)
        return is_told

    def best_cut(self, name):
        order, best = np.argsort(self.X[name].to_numpy()), (0.0, None)
        sides = self.left(self.sides)
        for rows in range(5, self.n - 4):
            cut = np.zeros((self.n, 1))
            cut[order[:rows]] = 1.0
            length = np.linalg.norm(self.left(cut)) ** 2
            if length > 0.5:
                told = ((cut.T @ (sides / np.linalg.norm(sides, axis=0))) ** 2).max() / length
                best = max(best, (told, rows))
        cut = np.zeros((self.n, 1))
        cut[order[: best[1]]] = 1.0
        return best[0], cut

    def grow(self, fitted):
        for name in ("z", "w"):
            for size in (4, 8):
                self.tells(self.functions(name, 2 * size)[:, size:], 0.005, "finer")
        for name in ("z", "w"):
            for _ in range(3):
                told, cut = self.best_cut(name)
                if told * self.n < stats.chi2.isf(0.001, 1) or not self.tells(cut, 0.001, "cut"):
                    break
        products = self.functions("z", 3)[:, :, np.newaxis] * self.functions("w", 3)[:, np.newaxis]
        self.tells(products.reshape(self.n, -1), 0.005, "products")
        for one in fitted.T:
            self.tells(np.column_stack([one**2, one**3]), 0.02, "powers")

    def robust(self, x, y, z, is_straight):
        """Return p of no covariance of what is left of some functions, x, with another, y."""
        basis = np.linalg.qr(z)[0]
        free = np.maximum(1 - (basis**2).sum(axis=1), 1e-3)[:, np.newaxis]
        products, rest, q = x * y, self.n - z.shape[1], x.shape[1]
        variance = products.T @ (products / free)
        if is_straight:
            x, y = x / np.linalg.norm(x), y / np.linalg.norm(y)
            changes = x * y - (x * y).sum() * (x * x + y * y) / 2
            squared = (x * y).sum() ** 2 / (((x * y) ** 2 / free).sum() + (changes**2 / free).sum()) * 2
            return stats.f.sf(squared, 1, rest - 1)
        squared = products.sum(axis=0) @ np.linalg.solve(variance, products.sum(axis=0))
        return stats.f.sf(squared * (rest - q) / (q * (self.n - squared)), q, rest - q)

    def p_value(self):
        found = [(self.robust(self.one[:, :1], self.two[:, :1], self.z, is_straight=True), 0.85)]
        for one, other in ((self.one, self.two), (self.two, self.one)):
            first = one[:, :1] / np.linalg.norm(one[:, 0])
            bends, straight = (of - first @ (first.T @ of) for of in (one[:, 1:], other[:, :1]))
            found.append((self.robust(bends, straight, np.column_stack([self.z, first]), is_straight=False), 0.075))
        t = min(p / share for p, share in found)
        return -np.expm1(sum(np.log1p(-min(share * t, 1 - 1e-15)) for _, share in found))


PAIRS = [("x", "y"), ("x", "u"), ("u", "v"), ("y", "v")]


@pytest.mark.parametrize("pair", PAIRS, ids=str)
def test_rows_confirm_as_by_hand(pair):
    X, bound = bent(), bf.get_ci_test("spline", confirm_below=1).bind(bent())
    by_hand = ByHand(X, *pair)
    assert bound.test(*pair, given=["z", "w"]).p_value == pytest.approx(by_hand.p_value(), rel=1e-7)


def test_each_kind_of_function_is_added_by_hand():
    assert {kind for pair in PAIRS for kind in ByHand(bent(), *pair).kinds} == {"finer", "cut", "products", "powers"}


@pytest.mark.parametrize("target", ["x", "y", "u", "v"])
def test_candidates_do_not_change_each_other(target):
    X = bent()
    others = [name for name in X if name not in (target, "z", "w")]
    together = bf.get_ci_test("spline", confirm_below=1).bind(X)
    for names in (others, others[::-1]):
        for name, found in zip(names, together.test_many(names, target, ["z", "w"]), strict=True):
            alone = bf.get_ci_test("spline", confirm_below=1).bind(X).test(name, target, ["z", "w"])
            np.testing.assert_allclose(found[:4], alone[:4], rtol=1e-10)
        together = bf.get_ci_test("spline", confirm_below=1).bind(X)


def test_a_sample_says_what_is_clear_and_all_rows_the_rest(monkeypatch):
    X, answers = bent(n=6000), []
    X["weak"] = X["z"] + 0.03 * X["v"] + np.random.default_rng(1).normal(size=len(X))
    for sizes in (spline_screen.SAMPLES, ()):
        monkeypatch.setattr(spline_screen, "SAMPLES", sizes)
        bound = bf.get_ci_test("spline", confirm_below=1).bind(X)
        queries = [("u", "v", ["z", "w"]), ("x", "y", ["z", "w"]), ("weak", "v", ["z"]), ("v", "u", ["z"])]
        answers.append([bound.test(x, y, given).log_p for x, y, given in queries])
    np.testing.assert_allclose(answers[0][:3], answers[1][:3], rtol=1e-9)
    (of_sample, of_all), clear = (answer[3] for answer in answers), np.log(spline_screen.CLEAR)
    assert max(of_sample, of_all) < clear
    assert of_sample != of_all and of_sample == pytest.approx(of_all, rel=0.2)  # as all rows with the same effect


def test_a_cut_is_added_that_tells_more_of_all_rows_than_chance(monkeypatch):
    monkeypatch.setattr(spline_given, "FINER", 0.0)  # no finer splines before the cuts
    n, added = 60, set()
    for seed in range(80):
        rng = np.random.default_rng(seed)
        z, step = np.sort(rng.normal(size=n)), np.arange(n) > 30
        columns = {"z": z, "x": rng.normal(size=n), "y": rng.normal(size=n) + 1.8 * step}
        screen = SplineScreen(as_table(pd.DataFrame(columns)), 0.85)
        given = GivenFunctions(screen, (0,))
        x, y = (given.left(screen.side(column)[:1]) for column in (1, 2))
        cuts = np.array([(np.arange(n) < rows) - rows / n for rows in range(5, n - 4)])
        left = given.left(cuts)
        left = left[np.vecdot(left, left) >= LEAST_CUT]
        shares = [(left @ side[0]) ** 2 / np.vecdot(left, left) / np.vecdot(side, side) for side in (x, y)]
        more = given.more(given.first(y), x, [])
        is_added = n * np.max(shares) >= least_told(1, CUT)
        assert (len(more.added) > 0) == is_added
        added.add(is_added)
    assert added == {False, True}


def test_powers_of_a_fit_are_as_long_for_any_number_of_rows():
    lengths = []
    for n in (1000, 64_000):
        rng = np.random.default_rng(0)
        X = pd.DataFrame(rng.normal(size=(n, 3)), columns=["z", "w", "y"])
        X["y"] += X["z"] + X["w"]
        screen = SplineScreen(as_table(X), 0.85)
        left = GivenFunctions(screen, (0, 1)).powers(screen.side(2)[:1])[0].left
        lengths.append(np.vecdot(left, left))
    np.testing.assert_allclose(*lengths, rtol=0.5)
