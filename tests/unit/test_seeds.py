"""Every random path has a seed."""

from pathlib import Path

import numpy as np
import pytest

from blanketflow.models import get_model
from blanketflow.search.run_fold import fold_seed
from unseeded import unseeded_calls

ROOT = Path(__file__).resolve().parents[2]
FOLDERS = (
    "src",
    "scripts",
    *(pytest.param(name, marks=pytest.mark.extended) for name in ("studies", "tests", "docs")),
)
#: Where chance is asked for, or starts nowhere.
ALLOWED = {
    "studies/knockoff_packages/__main__.py": {"numpy.random.seed"},  # knockpy takes its random numbers from there
    "studies/discover/peers.py": {"numpy.random.seed"},  # and ipss too
    "src/blanketflow/core/seeds.py": {"numpy.random.default_rng"},  # random_state=None, as scikit-learn has it
    "src/blanketflow/ci/contingency/binning.py": {"scipy.cluster.vq.kmeans"},  # starts at centres that are given
    "tests/unit/test_kernels_signed_rank.py": {"scipy.stats.permutation_test"},  # of all permutations
    # models without a seed are given one
    "tests/unit/test_ci_estimator_risks.py": {
        "lightgbm.LGBMClassifier",
        "sklearn.ensemble.RandomForestClassifier",
    },
    "tests/unit/test_models_get.py": {"sklearn.tree.DecisionTreeClassifier"},
}
PLANTED = """
import random, numpy as np, numpy.random as npr
from numpy.random import default_rng, RandomState
from sklearn.ensemble import RandomForestClassifier as Forest
from sklearn.model_selection import KFold, train_test_split
from scipy import stats
import lightgbm
{}
"""


@pytest.mark.parametrize(
    "line",
    [
        "np.random.seed(3)",
        "np.random.normal(size=3)",
        "npr.rand(3)",
        "default_rng()",
        "np.random.default_rng(None)",
        "RandomState()",
        "random.shuffle(rows)",
        "random.Random()",
        "Forest()",
        "Forest(random_state=None)",
        "KFold(shuffle=True)",
        "train_test_split(X)",
        "lightgbm.LGBMClassifier(n_estimators=3)",
        "stats.norm(0, 1).rvs(size=3)",
        "stats.permutation_test(a, b)",
    ],
)
def test_a_call_without_a_seed_is_found(line):
    assert [at for at, _ in unseeded_calls(PLANTED.format(line))] == [8]


@pytest.mark.parametrize(
    "line",
    [
        "default_rng(seed)",
        "np.random.RandomState(3)",
        "random.Random(3)",
        "Forest(random_state=3)",
        "Forest(**options)",
        "KFold(3)",
        "isinstance(x, np.random.Generator)",
        "stats.norm(0, 1).rvs(size=3, random_state=3)",
    ],
)
def test_a_call_with_a_seed_is_not(line):
    assert unseeded_calls(PLANTED.format(line)) == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_no_generator_is_without_a_seed(folder):
    found = []
    for path in sorted((ROOT / folder).rglob("*.py")):
        name = path.relative_to(ROOT).as_posix()
        calls = unseeded_calls(path.read_text())
        found += [f"{name}:{line} {call}" for line, call in calls if call not in ALLOWED.get(name, ())]
    assert found == []


def test_nothing_that_is_allowed_has_gone():
    for name, calls in ALLOWED.items():
        assert calls == {call for _, call in unseeded_calls((ROOT / name).read_text())}


@pytest.mark.parametrize("task", ["classification", "regression"])
def test_lightgbm_is_told_to_be_deterministic(task):
    X = np.random.default_rng(0).normal(size=(60, 3))
    y = (X[:, 0] > 0).astype(int) if task == "classification" else X[:, 0]
    fitted = get_model("lightgbm").build(task, seed=7).fit(X, y)
    options = (getattr(fitted, "estimator_", fitted)).get_params()
    assert options["random_state"] == 7
    assert options["deterministic"] is True


def test_each_part_of_a_fold_s_identity_gives_another_seed():
    identity = (2026, "wine", "cv-1", "1of2")
    others = [(2027, *identity[1:]), (2026, "iris", "cv-1", "1of2"), (2026, "wine", "cv-2", "1of2")]
    assert len({fold_seed(*one) for one in [identity, *others, (2026, "wine", "cv-1", "2of2")]}) == 5
