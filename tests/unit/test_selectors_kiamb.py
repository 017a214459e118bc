"""KIAMB: a literal rendering with the same draws, IAMB at k = 1, several blankets where information is duplicated."""

import random
from collections import Counter

import numpy as np
import pandas as pd
import pytest

import blanketflow as bf
from blanketflow.core.graph import DAG
from blanketflow.core.seeds import derive_rng
from blanketflow.core.table import Column, Table
from blanketflow.data.simulate import NETWORKS, simulate
from blanketflow.data.simulate.network import DiscreteNetwork, node
from blanketflow.search.run_fold import run_fold
from blanketflow.selectors.causal.iamb import IAMB, KIAMB
from literal import KnownTest, Separation

TARGET = "target"


def run(method, answer, names, seed=0):
    """Return the outcome on p-values that are known."""
    zeros = Table([Column(name, "numeric", np.zeros(2)) for name in names])
    return run_fold(method, KnownTest(answer=answer), zeros, Column(TARGET, "numeric", np.zeros(2)), seed)


def arbitrary_answers(seed, share_dependent=0.5):
    """Return p-values that obey no axiom, some of them equal."""

    def answer(x, y, given):
        rng = derive_rng(seed, x, ",".join(sorted(given)))
        return float(rng.choice([1e-9, 1e-4, 0.01]) if rng.random() < share_dependent else rng.choice([0.2, 0.9]))

    return answer


def kiamb(answer, names, alpha, k, seed, number):
    """One run of Algorithm KIAMB, word for word: the admissions and the blanket."""
    rng, admitted = derive_rng(seed, "kiamb", number), []
    while True:
        p = {x: answer(x, TARGET, frozenset(admitted)) for x in names if x not in admitted}
        dependent = sorted((x for x in p if p[x] <= alpha), key=lambda x: (p[x], names.index(x)))
        if not dependent:
            break
        drawn = rng.choice(len(dependent), size=max(1, int(k * len(dependent))), replace=False)
        admitted.append(min((dependent[i] for i in drawn), key=lambda x: (p[x], names.index(x))))
    blanket, removed = list(admitted), True
    while removed:
        removed = next((x for x in blanket if answer(x, TARGET, frozenset(blanket) - {x}) > alpha), None)
        blanket = [x for x in blanket if x != removed]
    return admitted, frozenset(blanket)


@pytest.mark.parametrize("k", [0.0, 0.3, 0.8, 1.0])
def test_is_the_algorithm_word_for_word_with_the_same_draws(k):
    names, sizes, distinct = list("abcdefgh"), set(), 0
    for seed in range(12):
        answer = arbitrary_answers(seed, share_dependent=0.4)
        outcome = run(KIAMB(k=k, n_runs=6), answer, names, seed)
        literal = [kiamb(answer, names, 0.05, k, seed, number) for number in range(6)]
        counts = Counter(blanket for _, blanket in literal)
        assert [step.feature for step in outcome.grown] == literal[0][0]
        assert {frozenset(one.features): one.count for one in outcome.answers} == counts
        # The most frequent is the answer, the first found of equally frequent ones.
        ordered = sorted(counts, key=lambda one: (-counts[one], [b for _, b in literal].index(one)))
        assert [frozenset(one.features) for one in outcome.answers] == ordered
        assert {step.feature for step in outcome.decisions if step.kept} == ordered[0]
        sizes.update(map(len, counts))
        distinct += len(counts) > 1
    assert len(sizes) > 2
    assert (distinct > 3) == (k < 1)


def test_with_k_1_every_run_is_iamb():
    names = list("abcdefgh")
    for seed in range(30):
        answer = arbitrary_answers(seed)
        alone, outcome = run(IAMB(), answer, names), run(KIAMB(k=1.0, n_runs=4), answer, names, seed)
        assert outcome.decisions == alone.decisions and outcome.grown == alone.grown
        kept = {step.feature for step in alone.decisions if step.kept}
        assert [(set(one.features), one.count) for one in outcome.answers] == [(kept, 4)]


def test_with_k_1_every_run_is_iamb_on_a_sample():
    table, target, _ = simulate("clinic", rows=800, seed=3)
    features = table.select([name for name in table.names if name != target])
    alone, outcome = (run_fold(m, bf.get_ci_test("g2"), features, table[target], 0) for m in (IAMB(), KIAMB(k=1.0)))
    assert outcome.decisions == alone.decisions
    assert [one.count for one in outcome.answers] == [10]


def test_with_k_0_an_admission_is_any_dependent_feature():
    # All depend, however many are admitted: the first admission is one of the eight, whatever its strength.
    names = list("abcdefgh")
    firsts = Counter(
        run(KIAMB(k=0.0, n_runs=1), lambda x, y, given: 1e-9 if x == "a" else 0.01, names, seed).grown[0].feature
        for seed in range(400)
    )
    assert set(firsts) == set(names)
    assert all(20 <= count <= 90 for count in firsts.values()), firsts  # 50 due, each


def test_the_share_drawn_is_k_of_the_dependent_features_at_least_one():
    # With strengths in table order, the best of n of 8 stands at place j with the chance C(7 - j, n - 1) / C(8, n).
    names = list("abcdefgh")
    strengths = {name: 1e-9 * 10**i for i, name in enumerate(names)}
    for k, n in [(0.1, 1), (0.25, 2), (0.49, 3), (0.9, 7)]:
        firsts = [run(KIAMB(k=k, n_runs=1), lambda x, y, given: strengths[x], names, s).grown[0] for s in range(100)]
        places = {names.index(step.feature) for step in firsts}
        assert max(places) <= 8 - n and len(places) > 1


def test_every_run_is_the_exact_blanket_on_d_separation():
    rng = random.Random(0)
    spouses_seen = 0
    for number in range(60):
        names = [f"v{i}" for i in range(rng.randint(5, 10))]
        density = rng.uniform(0.1, 0.5)
        arcs = [(a, b) for i, a in enumerate(names) for b in names[i + 1 :] if rng.random() < density]
        dag, separation = DAG(arcs, nodes=names), Separation(arcs)
        target = rng.choice(names)
        answer = lambda x, y, given, t=target, s=separation: s(x, t, given)  # noqa: E731
        for k in (0.0, 0.6):
            outcome = run(KIAMB(k=k, n_runs=5), answer, [name for name in names if name != target], number)
            wanted = set(dag.markov_blanket(target)["blanket"])
            assert [(set(one.features), one.count) for one in outcome.answers] == [(wanted, 5)]
        spouses_seen += len(dag.spouses(target)) > 0
    assert spouses_seen > 15


def test_every_run_is_the_exact_blanket_on_the_oracle():
    table, target, _ = simulate("clinic", rows=2, seed=0)
    features = table.select([name for name in table.names if name != target])
    oracle = bf.get_ci_test("oracle", network=NETWORKS["clinic"].network)
    outcome = run_fold(KIAMB(k=0.3, n_runs=20), oracle, features, table[target], 0)
    blanket = {"infection", "smoking", "xray", "cough", "fever", "old_scar", "allergy"}
    assert [(set(one.features), one.count) for one in outcome.answers] == [(blanket, 20)]


def copied(*names):
    return {f"{name}2": node("01", [name], table=[[1, 0], [0, 1]]) for name in names}


COIN = node("01", table=[0.5, 0.5])
OF_TWO = node("01", ["a", "b"], table=[[[0.95, 0.05], [0.7, 0.3]], [[0.4, 0.6], [0.1, 0.9]]])
COPIES = DiscreteNetwork("copies", {"a": COIN, "b": COIN, **copied("a", "b"), "noise": COIN, TARGET: OF_TWO})
BLANKETS = {frozenset({one, other}) for one in ("a", "a2") for other in ("b", "b2")}


def test_with_copies_all_blankets_come_up_over_the_runs():
    table = COPIES.sample(1, seed=0)
    features = table.select([name for name in table.names if name != TARGET])
    population = bf.get_ci_test("population", network=COPIES)
    for seed in range(10):
        outcome = run_fold(KIAMB(k=0.5, n_runs=60), population, features, table[TARGET], seed)
        counts = [one.count for one in outcome.answers]
        assert {frozenset(one.features) for one in outcome.answers} == BLANKETS
        assert counts == sorted(counts, reverse=True) and sum(counts) == 60
        assert {step.feature for step in outcome.decisions if step.kept} == set(outcome.answers[0].features)
        assert {len(one.features) for one in outcome.answers} == {2}


def test_with_copies_in_a_sample_several_blankets_come_up():
    sample = COPIES.sample(1000, seed=1)
    X = pd.DataFrame({name: sample[name].numbers().astype(int).astype(str) for name in sample.names})
    y = X.pop(TARGET)
    selector = bf.KIAMB(n_runs=30, k=0.5, alpha=0.001).fit(X, y)
    assert set(map(frozenset, selector.blankets_)) == BLANKETS
    assert sum(selector.blanket_counts_) == 30
    assert selector.blankets_[0] == selector.selected_features_
    again = bf.KIAMB(n_runs=30, k=0.5, alpha=0.001, random_state=0).fit(X, y)
    assert (again.blankets_, again.blanket_counts_) == (selector.blankets_, selector.blanket_counts_)


def test_more_runs_go_on_with_the_same_draws():
    answer, names = arbitrary_answers(5, share_dependent=0.4), list("abcdefgh")
    few, many = (run(KIAMB(k=0.3, n_runs=n), answer, names) for n in (3, 12))
    few, many = ({one.features: one.count for one in outcome.answers} for outcome in (few, many))
    assert few.keys() <= many.keys() and all(few[one] <= many[one] for one in few)
    assert sum(few.values()) == 3 and sum(many.values()) == 12
