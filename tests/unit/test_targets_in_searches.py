"""Searches for what tells about times to an event, counts and other further targets, by every way in."""

import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import d2_tweedie_score

import blanketflow as bf
from blanketflow.api.select_command import select
from blanketflow.ci import get_ci_test
from blanketflow.core.column import Column, TargetColumn
from blanketflow.core.convert import as_table
from blanketflow.core.errors import ConfigError, DataError, DependentRowsWarning, ParameterError, UnsupportedError
from blanketflow.core.numerics import standardised
from blanketflow.core.table import Table
from blanketflow.data.sources import read_source
from blanketflow.models import get_model
from blanketflow.models.responses import response
from blanketflow.reporting.formatting import NONE, number
from blanketflow.reporting.report.dataset import blankets
from blanketflow.search.confirmation import RATIO, confirm_members, ratios
from blanketflow.selectors.judged.losses_of_kinds import losses_of
from blanketflow.targets import as_numbers, get_target_kind
from blanketflow.targets.forms import as_target, as_written, with_own_column
from blanketflow.workflow.peek import peek


def cohort(n=500, seed=0, censored=True):
    """Three causes of a time, two of them numbers, a child of causes, and noise."""
    rng = np.random.default_rng(seed)
    a, b, d = rng.normal(size=(3, n))
    c, g = a + b + rng.normal(size=n), rng.choice(list("xyz"), n)
    time = rng.exponential(np.exp(-0.9 * a + 0.7 * d - 0.9 * (g == "x")))
    ended = rng.exponential(2.0, n) if censored else np.full(n, np.inf)
    frame = pd.DataFrame({"a": a, "b": b, "c": c, "d": d, "g": g, "n0": rng.normal(size=n), "n1": rng.normal(size=n)})
    return frame, np.minimum(time, ended), time <= ended


def structured(time, event):
    return np.array(list(zip(event, time, strict=True)), dtype=[("died", bool), ("days", float)])


X, TIME, EVENT = cohort()
Y = structured(TIME, EVENT)


def survival_table(columns, time=TIME, event=EVENT):
    target = TargetColumn("y", "numeric", time, (), "survival", {"event": event.astype(np.int8)})
    return as_table(columns).with_column(target)


def of_variance_1(*columns):
    return np.sqrt(len(columns[0])) * standardised(np.vstack(columns))


# --- tests ------------------------------------------------------------------------------------------------------------


def test_a_linear_test_is_the_likelihood_ratio_of_the_target_s_regressions():
    bound = get_ci_test("lr-mixed").bind(survival_table(X))
    target, kind = bound.table["y"], get_target_kind("survival")
    given = of_variance_1(X["d"], X["g"] == "x", X["g"] == "y")
    for name, dof in (("a", 1), ("b", 1)):
        found = bound.test(name, "y", given=["d", "g"])
        wanted = kind.null_model(target, given).likelihood_ratio(of_variance_1(X[name]))
        assert found.statistic == pytest.approx(wanted, rel=1e-6) and found.dof == dof and found.reliable
        assert bound.test("y", name, given=["d", "g"]) == found  # the target is the response, whichever is X
    of_label = bound.test("g", "y", given=["a"])
    wanted = kind.null_model(target, of_variance_1(X["a"])).likelihood_ratio(given[1:])
    assert of_label.statistic == pytest.approx(wanted, rel=1e-6) and of_label.dof == 2
    both = bound.test(["a", "g"], "y")
    wanted = kind.null_model(target, given[:0]).likelihood_ratio(of_variance_1(X["a"], X["g"] == "x", X["g"] == "y"))
    assert both.statistic == pytest.approx(wanted, rel=1e-6) and both.dof == 3


@pytest.mark.parametrize("given", [[], ["g"], ["n0", "d"]])
@pytest.mark.parametrize("times", ["free", "tied", "late", "all died"])
def test_many_numbers_are_tested_as_each_by_itself(times, given):
    """Also where the fit is at infinity, and for columns that are constant, collinear, or destroyed by rounding."""
    columns = X.assign(
        order=np.argsort(np.argsort(-TIME)) ** 3.0,
        last=TIME[EVENT].max() == TIME,
        rare=(np.arange(len(X)) < 2) * 1.5 + X["n1"] * 1e-3,
        same=1.0,
        both=2.0 * X["n0"] - X["d"],
        lost=1e15 + X["a"].round(),
    )
    time, event = np.ceil(2 * TIME) if times == "tied" else TIME, EVENT | (times == "all died")
    parts = {"event": event.astype(np.int8)} | ({"entry": 0.3 * time} if times == "late" else {})
    bound = get_ci_test("lr-mixed").bind(
        as_table(columns).with_column(TargetColumn("y", "numeric", time, (), "survival", parts))
    )
    names = [name for name in columns if name not in given]
    found = bound.test_many(names, "y", given)
    position = bound.table.position
    for name, one in zip(names, found, strict=True):
        alone = bound.engine.evaluate([position(name)], position("y"), tuple(map(position, given)))
        assert (one.dof, one.reliable) == (alone.dof[0], alone.reliable[0])
        assert one.statistic == pytest.approx(alone.statistic[0], rel=1e-8, abs=1e-8)


@pytest.mark.parametrize("kind", ["count", "ordered", "share", "positive"])
def test_many_numbers_are_tested_as_each_for_other_kinds(kind):
    frame, targets = other_targets(300)
    table = as_table(frame).with_column(as_target("demo", "y", targets[kind], kind))
    bound = get_ci_test("lr-mixed").bind(table)
    for given in ([], ["a"]):
        found = bound.test_many(list("bcdef"), "y", given)
        alone = [bound.engine.evaluate([at], 6, tuple([0] * len(given))).statistic[0] for at in range(1, 6)]
        assert found.statistic == pytest.approx(np.array(alone), rel=1e-8, abs=1e-8)


def test_other_columns_are_tested_as_ever_given_what_the_target_says_of_them():
    bound = get_ci_test("lr-mixed").bind(survival_table(X))
    event, hazard = get_target_kind("survival").covariates(bound.table["y"])
    ordinary = get_ci_test("lr-mixed").bind(
        Table(
            [
                *as_table(X).columns,
                Column("event", event.kind, event.values),
                Column("hazard", "numeric", hazard.values),
            ]
        )
    )
    assert bound.test("a", "b", given=["c"]) == ordinary.test("a", "b", given=["c"])
    assert bound.test("a", "b", given=["c", "y"]) == ordinary.test("a", "b", given=["c", "event", "hazard"])
    many = bound.test_many(["y", "b", "d"], "a", given=["c"])
    assert many.p_value[0] == bound.test("a", "y", given=["c"]).p_value
    assert many.p_value[1:].tolist() == ordinary.test_many(["b", "d"], "a", given=["c"]).p_value.tolist()


def test_too_few_events_are_unreliable_and_say_nothing():
    event = np.zeros(len(TIME), dtype=bool)
    event[np.argsort(TIME)[:15]] = True
    bound = get_ci_test("lr-mixed").bind(survival_table(X, event=event))
    assert bound.test("a", "y").reliable
    given = bound.test("a", "y", given=["b"])
    assert not given.reliable and given.p_value == 1.0
    assert bound.rows_needed(0, len(X.columns), (1,)) == int(np.ceil(10 * 2 * len(TIME) / 15))


def test_splines_find_hazards_that_bend():
    rng = np.random.default_rng(3)
    x, z = rng.normal(size=(2, 600))
    time = rng.exponential(np.exp(-(x**2)))
    table = survival_table(pd.DataFrame({"x": x, "z": z}), time, np.ones(600, dtype=bool))
    assert get_ci_test("lr-mixed").bind(table).test("x", "y").p_value > 1e-3
    assert get_ci_test("spline").bind(table).test("x", "y").p_value < 1e-20
    # x and time both depend on the square of z, and on nothing else in common
    x, time = z**2 + 0.5 * rng.normal(size=600), rng.exponential(np.exp(-(z**2)))
    table = survival_table(pd.DataFrame({"x": x, "z": z}), time, np.ones(600, dtype=bool))
    assert get_ci_test("lr-mixed").bind(table).test("x", "y", given=["z"]).p_value < 1e-6
    assert get_ci_test("spline").bind(table).test("x", "y", given=["z"]).p_value > 1e-3
    assert get_ci_test("gcm").bind(table).test("x", "y", given=["z"]).p_value > 1e-3


def uniform_under_the_null(test, n, n_given, censoring, seeds):
    """Return the p-values of independent columns, given columns on which the time depends."""
    found = []
    for seed in seeds:
        rng = np.random.default_rng([seed, n, n_given])
        columns = rng.normal(size=(n, 1 + n_given))
        time = rng.exponential(np.exp(-columns[:, 1:].sum(axis=1) * 0.5))
        ended = rng.exponential(np.quantile(time, 1 - censoring), n) if censoring else np.full(n, np.inf)
        table = survival_table(
            pd.DataFrame(columns, columns=[f"x{j}" for j in range(1 + n_given)]), np.minimum(time, ended), time <= ended
        )
        found.append(get_ci_test(test).bind(table).test("x0", "y", given=[f"x{1 + j}" for j in range(n_given)]).p_value)
    return np.array(found)


@pytest.mark.extended
@pytest.mark.parametrize("test", ["lr-mixed", "spline", "gcm"])
@pytest.mark.parametrize("n_given", [0, 3])
@pytest.mark.parametrize("censoring", [0.5])
def test_p_values_of_independent_columns_are_uniform(test, n_given, censoring):
    n_rows = 600 if test == "gcm" else 300  # which has more functions of given columns
    p = uniform_under_the_null(test, n_rows, n_given, censoring, range(300))
    for alpha in (0.01, 0.05, 0.2):
        error = np.sqrt(alpha * (1 - alpha) / len(p))
        assert abs((p <= alpha).mean() - alpha) < 3.5 * error + 0.2 * alpha, (alpha, (p <= alpha).mean())


@pytest.mark.parametrize("test", ["g2", "fisher-z", "ppi", "mi-permutation", "hsic"])
def test_a_test_that_does_not_know_the_kind_says_which_do(test):
    columns = X.drop(columns="g")
    with pytest.raises(
        UnsupportedError, match=f"{test} does not test survival targets: set ci_test to auto, lr-mixed, spline or gcm"
    ):
        bf.IAMB(ci_test=test).fit(columns, Y)


# --- searches ---------------------------------------------------------------------------------------------------------

MINE = [bf.GS, bf.IAMB, bf.InterIAMB, bf.HITONMB, bf.MMPC, bf.PCMB, bf.IPCMB, bf.STMB, bf.PCSimple]


@pytest.mark.parametrize("selector", MINE)
def test_searches_by_p_values_find_what_the_time_depends_on(selector):
    frame, time, event = cohort(1500, seed=5)
    found = selector(alpha=0.001).fit(frame, structured(time, event))
    assert set(found.selected_features_) == {"a", "d", "g"}
    assert found.task_ == "survival" and found.ci_test_.card.id in ("spline", "lr-mixed") and found.status_ == "ok"


def other_targets(n=1500):
    rng = np.random.default_rng(2)
    x = rng.normal(size=(n, 6))
    score = 0.8 * x[:, 0] - 0.7 * x[:, 1]
    return pd.DataFrame(x, columns=list("abcdef")), {
        "count": rng.poisson(np.exp(1 + score)),
        "ordered": np.digitize(score + rng.logistic(size=n), [-1.0, 0.0, 1.5]),
        "share": 1 / (1 + np.exp(-score - rng.normal(size=n))),
        "positive": np.exp(score) * rng.gamma(3.0, 1.0, n),
    }


@pytest.mark.parametrize("test", ["lr-mixed", "spline", "gcm"])
@pytest.mark.parametrize("kind", ["count", "ordered", "share", "positive"])
def test_each_kind_is_searched_by_its_own_regressions(kind, test):
    frame, targets = other_targets()
    for selector in (bf.IAMB, bf.HITONMB):
        found = selector(ci_test=test, alpha=0.001, target_kind=kind).fit(frame, targets[kind])
        assert set(found.selected_features_) == {"a", "b"} and found.task_ == kind


def test_an_exposure_is_no_effect():
    rng = np.random.default_rng(4)
    x, years = rng.normal(size=(800, 3)), rng.uniform(0.2, 5.0, 800)
    frame = pd.DataFrame(x, columns=list("abc")).assign(seen=np.log(years) + 0.1 * rng.normal(size=800))
    visits = rng.poisson(years * np.exp(0.5 * x[:, 0]))
    assert "seen" in bf.IAMB(target_kind="count").fit(frame, visits).selected_features_
    with_exposure = {"count": visits, "exposure": years}
    assert bf.IAMB(target_kind="count", alpha=0.01).fit(frame, with_exposure).selected_features_ == ["a"]


@pytest.mark.parametrize(
    "selector", [bf.MIM(n_features=2), bf.MRMR(n_features=2), bf.Relief(n_features=2), bf.StabilitySelection()]
)
def test_methods_that_know_numbers_read_the_residuals_and_say_so(selector):
    frame, time, event = cohort(800, seed=1)
    found = selector.fit(frame, structured(time, event))
    assert "a" in found.selected_features_ and set(found.selected_features_) <= {"a", "d"}
    name = type(selector).method_class.card.id
    assert f"{name} reads the survival target as a number: its residuals" in found.notes_


def test_residuals_of_times_are_martingale_residuals():
    time, event = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1, 0, 1, 1])
    residuals = as_numbers(TargetColumn("y", "numeric", time, (), "survival", {"event": event})).values
    assert residuals == pytest.approx(event - np.cumsum([1 / 4, 0, 1 / 2, 1]))


@pytest.mark.parametrize("censoring", [0.3, 1.0, 5.0])
def test_what_tells_of_the_censoring_only_is_unrelated_to_residuals(censoring):
    n, rejected = 400, 0
    for seed in range(200):
        rng = np.random.default_rng(seed)
        x, died = rng.normal(size=n), rng.exponential(size=n)
        left = rng.exponential(np.exp(-x) / censoring)
        parts = {"event": (died <= left).astype(np.int8)}
        y = as_numbers(TargetColumn("y", "numeric", np.minimum(died, left), (), "survival", parts)).numbers()
        rejected += abs(np.corrcoef(x, y)[0, 1]) * np.sqrt(n) > 1.96
    assert rejected <= 20  # of 10 expected, 19 or more have a chance of 1 in 200


def test_auto_sees_what_few_events_depend_on():
    rng = np.random.default_rng(5)
    X = rng.normal(size=(600, 20))
    died, left = rng.exponential(20 * np.exp(-0.8 * X[:, 0])), rng.exponential(1.0, 600)
    y = structured(np.minimum(died, left), died <= left)
    assert y["died"].sum() == 30
    assert "x0" in bf.Auto(n_parts=2, max_candidates=1).fit(X, y).selected_features_


def test_select_judges_sets_and_fits_a_model_of_the_kind():
    frame, time, event = cohort(400, seed=2)
    found = bf.select(frame, structured(time, event))
    assert {"a", "d"} <= set(found.features) and "with all: Uno's concordance 0.7" in found.verdict
    risk = found.estimator.predict(frame)
    assert np.corrcoef(risk, 0.9 * frame["a"] - 0.7 * frame["d"])[0, 1] > 0.8


RNG = np.random.default_rng(5)
SCORE = X["a"] - X["d"]
JUDGED = {
    "late": ({"time": TIME, "event": EVENT, "entry": TIME / 3}, "survival", "Harrell's concordance"),
    "count": ({"count": RNG.poisson(np.exp(SCORE) * 2), "exposure": np.full(500, 2.0)}, "count", "explained deviance"),
    "ordered": (np.searchsorted([-1, 1], SCORE + RNG.logistic(size=500)), "ordered", "ranked probability skill"),
    "share": (1 / (1 + np.exp(RNG.normal(size=500) - SCORE)), "share", "explained deviance"),
    "positive": (np.exp(SCORE) * RNG.exponential(size=500), "positive", "explained deviance"),
}


@pytest.mark.parametrize("name", JUDGED)
def test_sets_are_judged_in_the_terms_of_the_kind(name):
    y, kind, said = JUDGED[name]
    found = bf.Auto(target_kind=kind, max_candidates=12).fit(X[["a", "d", "n0", "n1"]], y)
    assert {"a", "d"} <= set(found.selected_features_) and f": {said} 0." in found.verdict_["sentence"]
    chosen, corrected = (
        next(row for row in found.verdict_["scores"] if row["model"] == model) for model in ("mean", "corrected")
    )
    assert 0.1 < corrected["chosen"] <= chosen["chosen"] < 0.9
    assert {row["model"] for row in found.verdict_["scores"]} == {"linear", "boosted", "mean", "corrected"}


def test_losses_are_explained_deviances_of_models_of_the_kind():
    y, exposure = JUDGED["count"][0]["count"], RNG.uniform(1, 3, 500)
    target = as_target("t", "y", {"count": y, "exposure": exposure}, "count")
    losses, of_rows = losses_of(target), response(target, "count")
    design = X[["a", "d"]].to_numpy()
    model = get_model("poisson").build("count", 0).fit(design, of_rows)
    wanted = d2_tweedie_score(y / exposure, model.predict(design), sample_weight=exposure, power=1)
    assert 1 - losses(model, design, of_rows, of_rows).mean() == pytest.approx(wanted)


def test_folds_hold_the_same_share_of_events():
    frame, time, event = cohort(300, seed=3)
    found = bf.HITONMB(n_folds=3, alpha=0.01).fit(frame, structured(time, event))
    assert {"a", "d"} <= set(found.selected_features_)
    with pytest.raises(DataError, match="2 events, fewer than the 3 folds: use fewer folds, name a more"):
        bf.HITONMB(n_folds=3).fit(frame, structured(time, np.arange(300) < 2))


def test_groups_are_clusters_and_weights_are_refused():
    copies = np.repeat(np.arange(len(X)), 3)
    plain = bf.IAMB(ci_test="lr-mixed").fit(X.iloc[copies], Y[copies])
    with warnings.catch_warnings():
        warnings.simplefilter("error", DependentRowsWarning)
        known = bf.IAMB().fit(X.iloc[copies], Y[copies], groups=copies)
    assert known.ci_test_.card.id == "lr-mixed" and "spline knows no groups" in known.ci_test_reason_
    assert len(plain.selected_features_) > len(known.selected_features_)
    assert {"a", "d", "g"} <= set(known.selected_features_) and not any("group" in note for note in known.notes_)
    with pytest.warns(DependentRowsWarning, match="IAMB: there are 39 groups, .* from 40 on"):
        bf.IAMB().fit(X, Y, groups=np.arange(len(X)) % 39)
    for test in ("spline", "gcm"):
        with pytest.warns(DependentRowsWarning, match=f"p-values of {test} take all rows .*small. lr-mixed knows"):
            bf.IAMB(ci_test=test).fit(X, Y, groups=np.arange(len(X)) // 2)
        with pytest.raises(UnsupportedError, match=f"{test} takes rows as independent and equal"):
            get_ci_test(test).bind(survival_table(X), groups=np.arange(len(X)) // 2)
    with pytest.raises(UnsupportedError, match="take rows as equal, and know no sampling weights"):
        bf.IAMB(ci_test="lr-mixed", weights_are="sampling").fit(X, Y, sample_weight=np.linspace(1, 2, len(X)))


def test_members_are_confirmed_on_rows_that_the_search_did_not_use():
    frame, time, event = cohort(1200, seed=8)
    found = bf.IAMB(confirm=0.5, alpha=0.2).fit(frame, structured(time, event)).confirmed_.set_index("feature")
    true, false = found.loc[["a", "d", "g"]], found.drop(index=["a", "d", "g"])
    assert true["confirmed"].all() and not false["confirmed"].any()
    assert found.loc["a", "low"] > 0.2 and found.loc["d", "high"] < -0.1  # early events where a is large and d small


@pytest.mark.extended
def test_confirmed_p_values_of_independent_columns_are_uniform():
    p = []
    for seed in range(400):
        rng = np.random.default_rng([seed, 9])
        z, x = rng.normal(size=(2, 200))
        time, ended = rng.exponential(np.exp(-(z**2))), rng.exponential(1.0, 200)
        x = x + z**2
        target = TargetColumn(
            "y", "numeric", np.minimum(time, ended), (), "survival", {"event": (time <= ended).astype(np.int8)}
        )
        table = as_table(pd.DataFrame({"x": x, "z": z}))
        p.append(confirm_members(table, target, ["x", "z"], seed)[0].p_value)
    assert 0.02 < np.mean(np.array(p) <= 0.05) < 0.09


def test_a_search_is_repeated_from_its_value():
    selector = bf.IAMB(alpha=0.01).fit(X, Y)
    search = type(selector.search()).from_dict(selector.search().as_dict())
    assert search.run(X, Y).features == selector.selected_features_
    assert search.run(X, (TIME, EVENT), target_kind="survival").features == selector.selected_features_


# --- forms ------------------------------------------------------------------------------------------------------------


def test_every_form_of_times_and_events_is_one_target():
    frame = pd.DataFrame({"days": TIME, "died": EVENT.astype(int)})
    forms = [
        (Y, "auto"),
        (Y, "survival"),
        (frame, "survival"),
        (frame[["died", "days"]], "survival"),
        ((TIME, EVENT), "survival"),
        ({"time": TIME, "event": EVENT}, "survival"),
        (frame.to_numpy(), "survival"),
    ]
    for y, kind in forms:
        target = as_target("demo", "target", y, kind)
        assert target.target_kind == "survival"
        assert target.values.tolist() == TIME.tolist() and target.parts["event"].tolist() == EVENT.astype(int).tolist()
    assert as_target("demo", "target", TIME, "auto") is None


def test_ordered_categories_keep_their_order_in_every_form():
    labels = pd.Categorical(["high", "low", "middle", "low"], ["low", "middle", "high"], ordered=True)
    for y in (labels, pd.Series(labels), pd.DataFrame({"grade": labels})):
        target = as_target("demo", "grade", y, "ordered")
        assert target.levels == ("low", "middle", "high") and target.values.tolist() == [2, 0, 1, 0]
    with pytest.raises(
        DataError, match=r"Declare it, the lowest first: target: \{column: grade, order: \[low, middle, high\]\}, or"
    ):
        as_target("demo", "grade", np.asarray(labels), "ordered")


def test_other_causes_are_censored():
    codes = np.where(EVENT, 1 + (np.arange(len(TIME)) % 2), 0)
    target = as_target("demo", "target", {"time": TIME, "event": codes, "cause": 2}, "survival")
    assert target.parts["event"].tolist() == (codes == 2).astype(int).tolist()
    with pytest.raises(DataError, match="has the cause 3; there are 0, 1, 2"):
        as_target("demo", "target", {"time": TIME, "event": codes, "cause": 3}, "survival")
    with pytest.raises(DataError, match="has the cause relapse; there are 0, 1, 2"):
        as_target("demo", "target", {"time": TIME, "event": codes, "cause": "relapse"}, "survival")
    with pytest.raises(DataError, match=r"y also has 'time', 'cause'. Leave out what is not the target"):
        as_target("demo", "target", {"time": TIME, "event": codes, "cause": codes}, "survival")


def test_a_task_and_a_kind_that_differ_are_refused_by_every_way_in(tmp_path):
    told = "task is regression, but target_kind is count. Leave task out"
    counts = np.arange(len(X)) % 7
    with pytest.raises(ParameterError, match=told):
        bf.IAMB(task="regression", target_kind="count").fit(X, counts)
    with pytest.raises(DataError, match=r"is a survival target, but task is regression. Leave task out"):
        bf.IAMB(task="regression").fit(X, Y)
    with pytest.raises(ParameterError, match=told):
        bf.compare(X, counts, ["mim"], task="regression", target_kind="count", evaluation=0, folds=0)
    X.assign(y=counts).to_csv(tmp_path / "t.csv", index=False)
    spec = {"path": str(tmp_path / "t.csv"), "target": "y", "target_kind": "regression"}
    assert read_source("study", spec, seed=0).task.name == "regression"  # and not classes, of which there would be few
    assert read_source("study", {**spec, "target_kind": None}, seed=0).task.name == "classification"
    for read in (peek, lambda name, asked: read_source(name, asked, seed=0)):
        with pytest.raises(ParameterError, match=f"study: {told}"):
            read("study", {**spec, "task": "regression", "target_kind": "count"})


@pytest.mark.parametrize(
    ("y", "kind", "told"),
    [
        (TIME, "survival", "a survival target needs times and events. Give y as a structured array"),
        (
            pd.DataFrame({"u": TIME, "v": TIME}),
            "survival",
            "one must hold the events, as 0 and 1 or as truth values, but none",
        ),
        ({"event": EVENT}, "survival", "needs its own column"),
        ({"count": [1, 2], "exposure": [1.0, np.nan]}, "count", "'exposure' of the target is missing in 1 rows"),
        ([0.5, 1.0], "count", "count"),
        ([0.5, 1.5], "share", "numbers outside 0 to 1 in 1 row"),
        ([0.5, 0.0], "positive", "positive"),
    ],
)
def test_what_is_not_of_the_kind_is_refused(y, kind, told):
    with pytest.raises(DataError, match=told):
        as_target("demo", "target", y, kind)


def test_two_columns_without_a_kind_are_refused_with_the_way_out():
    with pytest.raises(DataError, match="For times and events set target_kind to survival"):
        bf.IAMB().fit(X, pd.DataFrame({"days": TIME, "died": EVENT}))


def test_a_mapping_in_a_config_becomes_a_target_with_parts():
    spec = {"path": "t.csv", "target": {"time": "days", "event": "died", "cause": 2}}
    read = with_own_column("study", spec)
    assert (
        read["target"] == "days"
        and read["target_parts"] == {"event": "died"}
        and read["target_options"] == {"cause": 2}
    )
    assert as_written(read) == spec
    for target, told in (
        ({"days": "time"}, "target is a mapping of days. Write times as {time: COLUMN, event: COLUMN}"),
        ({"time": "days"}, "target of the kind survival needs event: add the name of that column"),
        ({"time": "days", "event": "died", "evnt": "x"}, "has no key 'evnt'. Did you mean 'event' or 'entry'?"),
        ({"time": "days", "event": 3}, "event of the target is 3, but must name a column"),
    ):
        with pytest.raises(ConfigError, match=told.replace("{", r"\{").replace("}", r"\}").replace("?", r"\?")):
            with_own_column("study", {"target": target})


def test_compare_evaluates_models_of_the_kind_and_equals_columns_of_one_table():
    frame, time, event = cohort(300, seed=6)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        beside = bf.compare(frame, structured(time, event), ["iamb"], models=["cox"], evaluation=2, folds=0)
        within = bf.compare(
            frame.assign(days=time, died=event.astype(int)),
            {"time": "days", "event": "died"},
            ["iamb"],
            models=["cox"],
            evaluation=2,
            folds=0,
        )
    pd.testing.assert_frame_equal(beside.scores, within.scores)
    means = beside.scores.set_index(["selector", "metric"])["mean"]
    assert means["none", "concordance"] == 0.5 and means["iamb", "uno-concordance"] > 0.7
    assert beside.blanket("iamb") == within.blanket("iamb")


def test_confirmed_members_have_hazard_ratios_by_every_way_in(tmp_path):
    frame, time, event = cohort(600, seed=6)
    frame["h"] = frame["a"] + frame["d"] > 0
    members = ["a", "d", "g", "h"]
    found = bf.IAMB(confirm=0.5, include=members).fit(frame, structured(time, event)).confirmed_
    own = found.set_index("feature")
    assert (own["ratio"] > 1)["a"] and own.loc["d", "ratio_high"] < 1 and own.loc["g", ["ratio"]].isna().all()
    assert (own["ratio_low"] < own["ratio"])[["a", "d", "h"]].all()
    frame.assign(days=time, died=event).to_csv(tmp_path / "t.csv", index=False)
    prior = {"include": members}
    dataset = with_own_column("t", {"path": str(tmp_path / "t.csv"), "target": {"time": "days", "event": "died"}})
    chosen = select({**dataset, **prior}, {"method": "iamb", "confirm": 0.5}, {}, 0)
    pd.testing.assert_frame_equal(pd.DataFrame(chosen.confirmed), found)
    said = {row["feature"]: chosen.why(row) for row in chosen.blanket}
    low, high = (number(own.loc["a", end]) for end in ("ratio_low", "ratio_high"))
    assert said["a"].endswith(f", hazard ratio {number(own.loc['a', 'ratio'])}, {low} to {high})")
    assert "hazard" not in said["g"]
    asked = {"iamb": {"method": "iamb", "confirm": 0.5}}
    run = bf.compare(frame, structured(time, event), asked, include=members, folds=0, evaluation=0)
    of_run = run.confirmed.set_index("feature")  # on rows of its own
    assert (
        of_run.loc["a", "ratio_low"] > 1 > of_run.loc["d", "ratio_high"] and of_run.loc["g", list(RATIO)].isna().all()
    )
    ratio, *ends = map(number, of_run.loc["a", list(RATIO)])
    (section,) = blankets(run.run, "table")
    at = section.table.headers.index("hazard ratio on rows left out")
    cells = {row[0].text: row[at] for row in section.table.rows}
    assert (cells["a"].text, cells["a"].detail) == (ratio, f"({' to '.join(ends)})")
    assert cells["g"].text == NONE and not cells["g"].detail


def test_ratios_are_per_standard_deviation_or_from_the_smaller_to_the_larger_of_two_values():
    frame, time, event = cohort(300, seed=2)
    table = survival_table(frame.assign(h=np.where(frame["a"] > 0, 3, 1), e=frame["b"] * 1e9 + 5), time, event)
    found = ratios(table, table["y"], ["h", "e"])
    coded = survival_table(frame.assign(h=frame["a"] > 0, e=frame["b"] / frame["b"].std()), time, event)
    cox = get_target_kind("survival").null_model(coded["y"], np.array([coded[x].numbers() for x in "he"]))
    slopes, covariance = cox.slopes()
    ends = slopes + 1.959963984540054 * np.sqrt(np.diag(covariance)) * np.array([[0], [-1], [1]])
    assert np.array([found["h"], found["e"]]) == pytest.approx(np.exp(ends).T, rel=1e-6)


def test_no_ratio_is_made_up():
    frame, time, event = cohort(300, seed=2)
    frame["twice"], frame["one"] = 2 * frame["a"], 1.0
    table = survival_table(frame, time, event)
    found = ratios(table, table["y"], ["a", "twice", "b", "one"])
    assert np.isnan([found["a"], found["twice"], found["one"]]).all() and not np.isnan(found["b"]).any()
    ratio, *ends = ratios(table, table["y"], ["b", "d"], np.arange(300) % 2)["b"]  # no more groups than features
    assert ratio > 0 and np.isnan(ends).all()
    assert not np.isnan(ratios(table, table["y"], ["b", "d"], np.arange(300) % 3)["b"]).any()
    few = survival_table(frame, time, np.arange(300) < 3)
    assert np.isnan(ratios(few, few["y"], ["a", "b", "d"])["a"]).all()
    sure = survival_table(frame.assign(x=event.astype(float)), time, event)  # its maximum is at infinity
    ratio, low, high = ratios(sure, sure["y"], ["x", "b"])["x"]
    assert ratio > 1e3 and low < 1 and high == np.inf
    number = Column("y", "numeric", time)
    assert np.isnan(ratios(table, number, ["a"])["a"]).all()


def test_compare_confirms_members_as_fit_does():
    frame, time, event = cohort(600, seed=6)
    found = bf.compare(
        frame, structured(time, event), {"iamb": {"method": "iamb", "confirm": 0.5}}, folds=0, evaluation=0
    )
    confirmed = found.confirmed.set_index("feature")
    assert confirmed.loc[["a", "d"], "confirmed"].all() and confirmed.loc["a", "low"] > 0


@pytest.mark.parametrize("test", ["lr-mixed", "spline", "gcm"])
def test_targets_of_two_values_keep_their_kind(test):
    """Times counted in two periods, and counts of 0 and 1, are no flags."""
    rng = np.random.default_rng(6)
    columns = pd.DataFrame(rng.normal(size=(300, 2)), columns=["a", "b"])
    event = rng.random(300) < 1 / (1 + np.exp(-columns["a"].to_numpy()))
    table = survival_table(columns, np.where(rng.random(300) < 0.5, 1.0, 2.0), event)
    assert get_ci_test(test).bind(table).test("a", "y").p_value < 1e-6
    counts = TargetColumn("y", "integer", event.astype(int), (), "count", {"exposure": np.exp(columns["a"].to_numpy())})
    found = get_ci_test("lr-mixed").bind(as_table(columns).with_column(counts)).test("b", "y")
    wanted = (
        get_target_kind("count").null_model(counts, np.zeros((0, 300))).likelihood_ratio(of_variance_1(columns["b"]))
    )
    assert found.statistic == pytest.approx(wanted, rel=1e-6)
