"""Searches of causal-learn, pgmpy and tigramite on our CI tests: their answers, test by test and whole."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.errors import UnknownNameError, UnsupportedError


@pytest.fixture(scope="module")
def bent():
    """Five columns, of which b, and c and d after it, bend: a correlation sees neither."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=(2, 1000))
    c = b**2 + 0.5 * rng.normal(size=1000)
    d = np.sin(2 * c) + 0.3 * rng.normal(size=1000)
    return pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "e": a + rng.normal(size=1000)})


#: Links of `bent`, in the order of names.
LINKS = {("a", "e"), ("b", "c"), ("c", "d")}


def test_pgmpy_calls_a_test_as_its_own(bent):
    is_independent = bf.ci.for_pgmpy("fisher-z", bent)
    bound = bf.get_ci_test("fisher-z").bind(bent)
    for x, y, z in (("a", "e", []), ("a", "b", ["c", "d"]), ("c", "d", ["b"])):
        found = bound.test(x, y, z)
        assert is_independent(x, y, z, significance_level=0.01) == (found.p_value >= 0.01)
        assert (is_independent.p_value_, is_independent.statistic_) == (found.p_value, found.statistic)
    assert is_independent.bound.n_tests == bound.n_tests


def test_pgmpys_pc_finds_bent_links_by_splines(bent):
    PC = pytest.importorskip("pgmpy.causal_discovery", reason="pgmpy is not installed").PC
    found = PC(ci_test=bf.ci.for_pgmpy("spline", bent), significance_level=0.001, show_progress=False).fit(bent)
    assert {tuple(sorted(edge)) for edge in found.causal_graph_.edges()} == LINKS


def test_causal_learns_pc_finds_bent_links_by_splines(bent):
    pc = pytest.importorskip("causallearn.search.ConstraintBased.PC", reason="causal-learn is not installed").pc
    name = bf.ci.for_causal_learn("spline")
    graph = pc(bent.to_numpy(), 0.001, name, show_progress=False).G.graph
    links = {("abcde"[i], "abcde"[j]) for i, j in zip(*np.nonzero(graph), strict=True) if i < j}
    assert links == LINKS


def test_causal_learn_reads_codes_as_labels_where_told():
    cit = pytest.importorskip("causallearn.utils.cit", reason="causal-learn is not installed")
    rng = np.random.default_rng(1)
    codes = rng.integers(3, size=(300, 3))
    codes[:, 1] = np.where(rng.random(300) < 0.3, codes[:, 0], codes[:, 1])
    ours = cit.CIT(codes, bf.ci.for_causal_learn(bf.get_ci_test("g2", dof="nominal"), labels=[0, 1, 2]))
    theirs = cit.CIT(codes, "gsq")
    for x, y, z in ((0, 1, []), (0, 2, [1]), (1, 2, [])):
        assert ours(x, y, z) == pytest.approx(theirs(x, y, z), rel=1e-9)
    with pytest.raises(UnsupportedError, match="x0"):
        cit.CIT(codes, bf.ci.for_causal_learn("fisher-z", labels=[0]))


def test_tigramites_pcmci_finds_a_bent_lag_by_splines():
    base = pytest.importorskip("tigramite.data_processing", reason="tigramite is not installed")
    from tigramite.pcmci import PCMCI

    rng = np.random.default_rng(2)
    series = rng.normal(size=(600, 3))
    series[1:, 1] += series[:-1, 0] ** 2
    found = PCMCI(base.DataFrame(series), bf.ci.for_tigramite("spline")).run_pcmci(tau_max=1, pc_alpha=0.01)
    links = np.argwhere(found["p_matrix"][:, :, 1] < 1e-4).tolist()
    assert links == [[0, 1]]


def test_tigramite_says_which_columns_are_labels():
    base = pytest.importorskip("tigramite.data_processing", reason="tigramite is not installed")

    rng = np.random.default_rng(3)
    series = np.column_stack([rng.integers(3, size=400), rng.normal(size=400)]).astype(float)
    kinds = np.column_stack([np.ones(400, dtype=int), np.zeros(400, dtype=int)])
    test = bf.ci.for_tigramite("fisher-z")
    test.set_dataframe(base.DataFrame(series, data_type=kinds))
    with pytest.raises(UnsupportedError, match="x0"):
        test.run_test([(0, 0)], [(1, 0)])
    test = bf.ci.for_tigramite("lr-mixed")
    test.set_dataframe(base.DataFrame(series, data_type=kinds))
    frame = pd.DataFrame({"x0": series[:, 0].astype(str), "x1": series[:, 1]})
    expected = bf.get_ci_test("lr-mixed").bind(frame).test("x0", "x1")
    assert test.run_test([(0, 0)], [(1, 0)]) == pytest.approx((expected.statistic, expected.p_value))


def test_unknown_tests_are_refused_by_name(bent):
    with pytest.raises(UnknownNameError, match="fisher"):
        bf.ci.for_pgmpy("fisher-zz", bent)


def test_tests_need_neither_the_workflow_nor_tables_of_others():
    code = (
        "import sys, blanketflow as bf, numpy as np;"
        "bf.ci.get_ci_test('fisher-z').bind(np.random.default_rng(0).normal(size=(50, 3))).test(0, 1, [2]);"
        "unneeded = ('pandas', 'sklearn', 'snakemake', 'lightgbm', 'pyarrow', 'numba', 'typer');"
        "print([module for module in unneeded if module in sys.modules])"
    )
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"
