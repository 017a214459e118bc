"""Sets of columns coded at once, against columns of tuples made one row at a time."""

import gc
import weakref

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.ci.contingency import contingency
from blanketflow.ci.contingency.coded_columns import CodedColumns, JointColumns
from blanketflow.core.table import Column, Table

SETS = [(0, 1), (3,), (0, 2, 3), (4, 5), (0, 1, 2, 3, 4, 5), (1, 4)]
LEVELS = [2, 3, 1, 4, 9, 70]


def levels_of(rng, n):
    shares = [rng.dirichlet(np.full(r, 0.7)) for r in LEVELS]
    return np.column_stack([rng.choice(len(p), size=n, p=p) for p in shares])


def table(columns):
    """Return codes as categorical columns, which nothing bins."""
    names = [str(level) for level in range(1 + max(map(max, columns)))]
    return Table([Column(f"x{i}", "categorical", c.astype(np.int32), tuple(names)) for i, c in enumerate(columns)])


def codes_of(X, members):
    """Number the combinations of some columns in order of appearance."""
    seen = {}
    return np.array([seen.setdefault(tuple(row), len(seen)) for row in X[:, list(members)].tolist()])


@pytest.mark.parametrize("n", [1, 2, 65, 700])
def test_each_set_is_coded_as_its_combinations(n):
    X = levels_of(np.random.default_rng(n), n)
    columns = CodedColumns(n, X.shape[1], lambda i: (X[:, i], LEVELS[i]))
    joint = JointColumns(columns, SETS)
    for i, members in enumerate(SETS):
        wanted, found = codes_of(X, members), joint.codes(i)
        assert joint.n_levels[i] == len(set(wanted)) == len(set(found))
        assert len(set(zip(wanted, found, strict=True))) == len(set(wanted))
        assert np.bincount(found).argmax() == 0


@pytest.mark.parametrize("kind", ["g2", "chi2"])
@pytest.mark.parametrize("codes_at_a_time", [2**22, 2000, 1])
@pytest.mark.parametrize("most_cells", [2**17, 100])
def test_tests_of_sets_equal_tests_of_joint_columns(monkeypatch, kind, codes_at_a_time, most_cells):
    monkeypatch.setattr(contingency, "MOST_JOINT_CODES", codes_at_a_time)
    monkeypatch.setattr(contingency, "MOST_CELLS", most_cells)
    monkeypatch.setattr(contingency, "CELLS_PER_ROW", 0)
    rng = np.random.default_rng(5)
    X, others = levels_of(rng, 700), rng.integers(0, 3, size=(700, 3))
    others[:, 0] = (others[:, 0] + (X[:, 0] + X[:, 1]) % 2) % 3
    bound = bf.get_ci_test(kind, unreliable="use").bind(table([*others.T, *X.T]))
    joint = bf.get_ci_test(kind, unreliable="use").bind(table([*others.T, *(codes_of(X, s) for s in SETS)]))
    for given in ([], [1], [1, 2]):
        found = bound.test_many([tuple(3 + i for i in members) for members in SETS], 0, given)
        for i, result in enumerate(found):
            wanted = joint.test(3 + i, 0, given)
            np.testing.assert_allclose(result, wanted, rtol=1e-12)


def test_codes_of_sets_are_gone_when_nobody_has_them():
    X = levels_of(np.random.default_rng(4), 20)
    joint = JointColumns(CodedColumns(20, X.shape[1], lambda i: (X[:, i], LEVELS[i])), SETS)
    found = weakref.ref(joint)
    gc.disable()  # a cycle would keep them
    try:
        del joint
        assert found() is None
    finally:
        gc.enable()
