"""Warnings of other packages are counted and said once, also from processes of their own; none is lost."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

import blanketflow as bf
from blanketflow.cli import main
from blanketflow.core.isolation import FORKS, in_child
from blanketflow.core.messages import counted_warnings, give_again, say_once, warnings_told, with_warnings


def warn_three_times():
    for n in (1, 2, 30):
        warnings.warn(f"gap 1.5e-{n}, tolerance {n / 7}", ConvergenceWarning, stacklevel=1)


@pytest.fixture
def said():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        yield found


def test_texts_that_differ_in_numbers_are_one_kind(said):
    counts = [with_warnings(warn_three_times)[1] for _ in range(2)]
    assert said == []
    say_once("fit", *counts, stacklevel=1)
    (one,) = said
    assert one.category is ConvergenceWarning and one.filename == __file__
    assert str(one.message) == "fit: 6 times: gap 1.5e-1, tolerance 0.14285714285714285"


def test_a_single_warning_is_as_it_was(said):
    with counted_warnings() as counts:
        warnings.warn("odd", UserWarning, stacklevel=1)
    say_once("fit", counts)
    assert [(one.category, str(one.message)) for one in said] == [(UserWarning, "odd")]


def test_filters_of_the_caller_decide_what_is_shown():
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("ignore")
        with counted_warnings() as counts:
            warn_three_times()
            warnings.warn("hidden", DeprecationWarning, stacklevel=1)
        say_once("fit", counts)
    assert found == [] and counts.total() == 3


def test_work_that_fails_takes_no_warning_along(said):
    def work():
        warn_three_times()
        raise OSError("the disk is full")

    with pytest.raises(OSError, match="full"):
        with_warnings(work)
    assert [str(one.message).partition(": gap")[0] for one in said] == ["before it failed: 3 times"]


@pytest.mark.skipif(not FORKS, reason="no processes of their own here")
def test_warnings_of_a_process_of_its_own_arrive(said, capfd):
    assert with_warnings(in_child, lambda: warn_three_times() or 5) == (
        5,
        {(ConvergenceWarning, f"gap 1.5e-{n}, tolerance {n / 7}"): 1 for n in (1, 2, 30)},
    )
    assert capfd.readouterr().err == ""
    give_again([["of.a.plugin", "OddWarning", "odd", 2], ["builtins", "print", "no class", 1]])
    assert [one.category for one in said] == [UserWarning] * 3


@pytest.mark.parametrize("model", [{"type": "logistic", "max_iter": 1}, LogisticRegression(max_iter=1)])
def test_a_search_whose_models_do_not_converge_says_it_once(said, model):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    bf.Stepwise(model=model).fit(X, X[:, 0] + rng.normal(size=60) > 0)
    (one,) = said
    assert one.category is ConvergenceWarning and one.filename == __file__
    assert str(one.message).startswith("Stepwise: ") and " times: lbfgs failed to converge" in str(one.message)


def test_a_command_says_once_how_many_warnings_a_package_gave(monkeypatch, tmp_path, capsys):
    """Also of workers, whose counts are given again in one text."""
    monkeypatch.setattr("sys.warnoptions", [])
    told = []
    with pytest.raises(SystemExit), warnings_told(told.append):
        warn_three_times()
        np.log(np.zeros(2) - 1)  # in this file
        warnings.warn("compare: 1,200 times: gap 0.5", ConvergenceWarning, stacklevel=1)
        raise SystemExit(0)  # as commands do
    assert told == ["1,203 warnings of sklearn: gap 1.5e-1, tolerance 0.14285714285714285", *told[1:]]
    assert told[1:] == ["1 warning: invalid value encountered in log"]


def test_no_warning_of_another_package_reaches_the_terminal_uncounted(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr("sys.warnoptions", [])
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loud.py").write_text(
        "import warnings\nfrom sklearn.exceptions import ConvergenceWarning\n"
        "from sklearn.feature_selection import SelectKBest\n\n\nclass Loud(SelectKBest):\n"
        "    def __init__(self, k=1):\n        super().__init__(k=k)\n\n"
        "    def fit(self, X, y):\n        for n in (1, 2):\n"
        "            warnings.warn(f'no convergence after {n} steps', ConvergenceWarning)\n"
        "        return super().fit(X, y)\n"
    )
    assert main(["select", "sklearn:wine", "--method", "loud:Loud"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert lines[-1] == "2 warnings of sklearn: no convergence after 1 steps"
    assert not any("Warning" in line for line in lines)
