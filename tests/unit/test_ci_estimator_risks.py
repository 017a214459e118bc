"""The PPI test with models that can tell what they depend on: equal to fitting every repeat anew for every feature."""

import numpy as np
import pandas as pd
import pytest
from lightgbm import LGBMClassifier
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression

import blanketflow as bf
from blanketflow.ci.engines import columns_of
from blanketflow.ci.predictive.model_losses import Learner
from blanketflow.ci.predictive.ppi import EstimatorRisks
from blanketflow.ci.predictive.risk_differences import draw_repeats
from blanketflow.core.convert import as_table
from blanketflow.core.seeds import seed_32
from blanketflow.models.encode import design
from blanketflow.models.lightgbm import CERTIFIED, LightGBM

pytestmark = pytest.mark.filterwarnings("ignore:X does not have valid feature names")
B = 3


def mixed_table(seed, n_classes, n=90):
    """Return numbers, a count, a copy, a mirror, sparse and rare columns, text and flags; the target is `y`."""
    rng = np.random.default_rng(seed)
    number, count = rng.normal(size=n), rng.integers(0, 4, n)
    frame = pd.DataFrame({"number": number, "count": count, "copy": count, "mirror": -number})
    frame["sparse"] = np.where(rng.random(n) < 0.1, rng.normal(size=n), 0.0)
    frame["rare"] = (np.arange(n) == 5).astype(float)
    frame["colour"], frame["flag"] = rng.choice(list("abcd"), n), rng.random(n) < 0.3
    for j in range(4):
        frame[f"noise{j}"] = rng.normal(size=n)
    frame = frame[frame.columns[rng.permutation(frame.shape[1])]]
    signal = 2 * number + count + 1.5 * (frame["colour"] == "b") + rng.normal(size=n)
    cuts = np.quantile(signal, np.arange(1, n_classes) / n_classes) if n_classes else None
    return frame.assign(y=signal if n_classes == 0 else np.digitize(signal, cuts).astype(str))


def literal_risks(table, column, given, target, repeats, seed, model):
    """Algorithm 1: a model of its own for every feature, set and repeat, its test rows predicted before and after."""
    tested = columns_of(column)
    members = sorted([*tested, *given])
    encoded = design(table.select(members))
    blocks = [encoded.blocks[members.index(one)] for one in tested]
    learner = Learner(table[target], model, certified=True)
    risks, permuted = [], []
    for b in range(len(repeats.is_train)):
        fitted = learner.fit(encoded.matrix, repeats.is_train[b], seed_32(seed, "repeat", b, "model"))
        rows, X = repeats.test_rows[b], encoded.matrix[repeats.test_rows[b]]
        risks.append(learner.losses(fitted, X, rows).mean())
        for block in blocks:
            X[:, block] = encoded.matrix[repeats.permuted_rows[b]][:, block]
        permuted.append(learner.losses(fitted, X, rows).mean())
    return np.array(risks), np.array(permuted)


def walk(table, model, seed, n_repeats=B):
    """Ask as a shrink phase does, with smaller and smaller sets; assert bitwise equality, return the fits and those
    of fitting anew, and how many differences were exactly zero."""
    rng = np.random.default_rng(seed)
    target = table.position("y")
    repeats = draw_repeats(table.n_rows, n_repeats, 0.2, seed)
    source = EstimatorRisks(table, target, repeats, seed, model)
    members = [j for j in range(len(table)) if j != target]
    asked = zeros = 0
    while len(members) > 1:
        column = int(rng.choice(members))
        rest = [j for j in members if j != column]
        risks, permuted = source.conditional(column, rest)
        wanted = literal_risks(table, column, rest, target, repeats, seed, model)
        np.testing.assert_array_equal(risks, wanted[0])
        np.testing.assert_array_equal(permuted, wanted[1])
        asked += n_repeats
        zeros += int((risks == permuted).sum())
        together = (column, rest[0])
        wanted = literal_risks(table, together, rest[1:], target, repeats, seed, model)
        np.testing.assert_array_equal(source.conditional(together, rest[1:]), wanted)
        if rng.random() < 0.7:
            members = rest
    return source.n_fits, asked, zeros


@pytest.mark.parametrize("n_classes", [2, *(pytest.param(k, marks=pytest.mark.extended) for k in (0, 3, 4))])
def test_lightgbm_equals_a_fit_for_every_feature_bitwise_and_fits_less_often(n_classes):
    saved = 0
    for seed in range(4):
        model = LightGBM(n_estimators=(1, 2, 6, 12)[seed], num_leaves=(4, 3, 8, 5)[seed])
        n_fits, asked, zeros = walk(as_table(mixed_table(seed, n_classes)), model, seed)
        assert B <= n_fits <= asked and zeros > 0
        saved += asked - n_fits
    assert saved > 20


@pytest.mark.extended
def test_a_wide_sparse_table_is_shrunk_on_few_fits():
    rng = np.random.default_rng(2)
    X = (rng.random((200, 60)) < 0.05).astype(float)
    X[:, 7] = rng.normal(size=200)
    table = as_table(pd.DataFrame(X, columns=[f"x{j}" for j in range(60)]).assign(y=X[:, 7] + X[:, 3]))
    n_fits, asked, zeros = walk(table, LightGBM(n_estimators=3), 0)
    assert n_fits < asked / 4 and zeros > asked / 2


def test_targets_so_small_that_gains_underflow_are_split_all_the_same():
    frame = mixed_table(1, 0)
    walk(as_table(frame.assign(y=frame["y"] * 1e-24)), LightGBM(n_estimators=3, num_leaves=4), 1)
    estimator = LightGBM().certify(LightGBM(n_estimators=3, num_leaves=4).build("regression", 0))
    fitted = estimator.fit(frame[["number"]].to_numpy(), frame["y"].to_numpy() * 1e-24)
    assert fitted.booster_.feature_importance("split").tolist() == [0]  # LightGBM's own count sees no split
    assert LightGBM().used_columns(fitted).tolist() == [0]


@pytest.mark.parametrize(
    "options",
    [
        {"enable_bundle": True},
        {"extra_trees": True},
        {"use_quantized_grad": True},
        {"feature_fraction_bynode": 0.5},
        {"colsample_bytree": 0.5},
        {"force_col_wise": False, "force_row_wise": True},
        {"deterministic": False},
        {"subsample_freq": 1},
        {"boosting_type": "dart"},
        {"n_jobs": 2},
    ],
    ids=str,
)
def test_no_certificate_without_its_conditions(options):
    frame = mixed_table(0, 2)
    X, y = frame[["number", "noise0"]].to_numpy(), frame["y"]
    model = LightGBM(n_estimators=2)
    certified = model.certify(model.build("classification", 0))
    assert model.used_columns(certified.fit(X, y)).tolist() in ([0], [0, 1])
    assert model.used_columns(model.build("classification", 0).fit(X, y)) is None  # bundles may be made
    assert model.used_columns(certified.set_params(**options).fit(X, y)) is None


@pytest.mark.parametrize(
    "model",
    [
        LGBMClassifier(n_estimators=3, verbose=-1, **{k: v for k, v in CERTIFIED.items() if k != "enable_bundle"}),
        LGBMClassifier(n_estimators=3, verbose=-1, extra_trees=True, n_jobs=1),
        RandomForestClassifier(n_estimators=3),
        LogisticRegression(),
        "knn",
    ],
    ids=lambda model: type(model).__name__,
)
def test_models_without_a_certificate_are_fitted_for_every_set(model):
    table = as_table(mixed_table(3, 2)[["number", "count", "colour", "noise0", "y"]])
    target = table.position("y")
    repeats = draw_repeats(table.n_rows, B, 0.2, 3)
    source = EstimatorRisks(table, target, repeats, 3, model)
    sets = [(0, 1, 2, 3), (0, 1, 2), (1, 2), (0, 3), (3,), (0, 1, 2, 3)]
    for members in sets:
        for column in members:
            rest = [j for j in members if j != column]
            found = source.conditional(column, rest)
            np.testing.assert_array_equal(found, literal_risks(table, column, rest, target, repeats, 3, model))
        found = source.conditional(members, ())
        np.testing.assert_array_equal(found, literal_risks(table, members, (), target, repeats, 3, model))
    assert source.n_fits == B * len(sets)


def test_training_rows_of_one_class_depend_on_no_column():
    # One row of the second class: whenever it is a test row, the model is that of the only class left.
    frame = pd.DataFrame(np.random.default_rng(0).normal(size=(12, 4)), columns=list("abcd"))
    frame["y"] = ["u"] * 11 + ["v"]
    table = as_table(frame)
    repeats = draw_repeats(12, 12, 0.3, 1)
    only = int((~repeats.is_train[:, 11]).sum())
    source = EstimatorRisks(table, 4, repeats, 1, LogisticRegression())
    for members in [(0, 1, 2, 3), (0, 1, 2), (1, 2)]:
        found = source.conditional(members[-1], members[:-1])
        wanted = literal_risks(table, members[-1], members[:-1], 4, repeats, 1, LogisticRegression())
        np.testing.assert_array_equal(found, wanted)
    assert 0 < only < 12
    assert source.n_fits == 12 + 2 * (12 - only)


def test_evaluation_keeps_bundles():
    plain = LightGBM().build("classification", 0).get_params()
    assert "enable_bundle" not in plain
    learner = Learner(as_table(mixed_table(0, 2))["y"], "lightgbm")
    assert "enable_bundle" not in learner.fit(np.eye(90), np.arange(90), 0).get_params()


class RefittedLightGBM(LightGBM):
    """The same trees, of which nothing is known."""

    def used_columns(self, fitted):
        return None


@pytest.mark.extended
@pytest.mark.parametrize("significance", ["wilcoxon", pytest.param("corrected-t", marks=pytest.mark.extended)])
def test_ppfs_with_lightgbm_selects_as_with_a_fit_for_every_feature(significance):
    frame = mixed_table(5, 3)
    X, y = frame.drop(columns="y"), frame["y"]
    options = {"n_repeats": 8, "significance": significance, "alpha": 0.2, "random_state": 2}
    shared = bf.PPFS(model=LightGBM(n_estimators=3), **options).fit(X, y)
    refitted = bf.PPFS(model=RefittedLightGBM(n_estimators=3), **options).fit(X, y)
    assert len(shared.candidates_) > 2
    pd.testing.assert_frame_equal(shared.trace_, refitted.trace_, check_exact=True)
