"""Methods, tests and models that misbehave, each in one way, beside one that does not: plug-ins of real runs."""

import ctypes
import os
import sys
import time
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.feature_selection import SelectorMixin

from blanketflow.ci import CITest
from blanketflow.core.cards import Card
from blanketflow.core.parameters import choice
from blanketflow.core.results import CIResults
from blanketflow.moves.steps import Answer, Step
from blanketflow.selectors import Method


class Odd(Exception):
    def __init__(self):
        super().__init__("it cannot be pickled")
        self.open = sys.stderr


def crash():
    ctypes.string_at(0)


def hang_in_c():
    ctypes.PyDLL(None).sleep(600)


def hang():
    while True:
        try:
            time.sleep(1)
        except BaseException:  # it lets nothing stop it
            continue


def fail():
    raise Odd()


def leave():
    sys.exit("that was all")


def vanish():
    os._exit(0)


def chatter():
    for _ in range(2000):
        print("x" * 1000)
    os.write(1, b"\xff\x00" * 1_000_000)


#: What can happen before an answer.
ACTS = {f.__name__: f for f in (crash, hang_in_c, hang, fail, leave, vanish, chatter)}

#: What a method can say, and what is said of it.
GROWN = {
    "nothing": (lambda p: None, "grow returned null, but must return a list of steps"),
    "text": (lambda p: "x0", "grow returned 'x0', but must return a list of steps"),
    "names": (lambda p: ["x0"], "grow returned 'x0' among its steps, which is not a Step"),
    "stranger": (lambda p: [Step("x99\x1b[2J")], "grow returned 'x99\\x1b[2J', which is not a feature of the table"),
    "number": (lambda p: [Step(0)], "grow returned 0, which is not a feature of the table"),
    "target": (lambda p: [Step(p.target)], "grow returned 'y', which is the target"),
    "twice": (lambda p: [Step("x0"), Step("x1"), Step("x0")], "grow returned feature 'x0' twice"),
    "nan": (
        lambda p: [Step("x0", importance=float("nan"))],
        "grow returned for feature 'x0' the importance nan, which is not a finite number",
    ),
    "infinite": (
        lambda p: [Step("x0", importance=np.inf)],
        "grow returned for feature 'x0' the importance inf, which is not a finite number",
    ),
    "worded": (
        lambda p: [Step("x0", importance="high")],
        "grow returned for feature 'x0' the importance 'high', which is not a finite number",
    ),
    "improbable": (
        lambda p: [Step("x0", p_value=-0.1)],
        "grow returned for feature 'x0' the p-value -0.1, which is not between 0 and 1",
    ),
    "no effect": (
        lambda p: [Step("x0", statistic=np.nan)],
        "grow returned for feature 'x0' the statistic nan, which is not a number",
    ),
    "undecided": (
        lambda p: [Step("x0", kept="maybe")],
        "grow returned for feature 'x0' kept='maybe', which is neither true nor false",
    ),
    "roles": (
        lambda p: [Step("x0", role=None)],
        "grow returned for feature 'x0' role null and group '': both must be text",
    ),
    "given": (
        lambda p: [Step("x0", given=(1,))],
        "grow returned for feature 'x0' the conditioning set (1,), which does not consist of names",
    ),
}
SHRUNK = {
    "nothing": (lambda p: None, "shrink returned null, but must return a list of steps"),
    "stranger": (lambda p: [Step("z")], "shrink returned 'z', which is not a feature of the table"),
    "target": (lambda p: [Step("x0"), Step("y")], "shrink returned 'y', which is the target"),
    "twice": (lambda p: [Step("x0"), Step("x0")], "shrink returned feature 'x0' twice"),
    "answers": (
        lambda p: p.answers.append(Answer(("x0", "z"))) or [Step("x0")],
        "one of the answers holds 'z', which is not a feature of the table",
    ),
    "answers twice": (
        lambda p: p.answers.append(Answer(("x0", "x0"))) or [Step("x0")],
        "one of the answers holds a feature twice: ['x0', 'x0']",
    ),
}


@dataclass
class Animal(Method):
    """Keeps x0, if nothing else is asked of it."""

    act: str = choice("none", "What it does first.", choices=("none", *ACTS))
    grown: str = choice("well", "What it grows.", choices=("well", *GROWN))
    shrunk: str = choice("well", "What it shrinks to.", choices=("well", *SHRUNK))
    in_fold: str = choice("any", "Where it acts.", choices=("any", "without the largest"))

    card: ClassVar[Card] = Card("animal", "An animal", "filter", "Misbehaves.", "none")
    default_test: ClassVar[None] = None

    def grow(self, problem):
        acts = self.in_fold == "any" or problem.table["x0"].values.max() < LARGEST
        if self.act != "none" and acts:
            ACTS[self.act]()
        return [Step("x0", importance=1.0)] if self.grown == "well" else GROWN[self.grown][0](problem)

    def shrink(self, problem, candidates):
        return candidates if self.shrunk == "well" else SHRUNK[self.shrunk][0](problem)


#: A value of x0 that one row has.
LARGEST = 100.0


def results(n, **changed):
    zeros = np.zeros(n)
    known = {"statistic": zeros, "p_value": zeros + 0.5, "log_p": zeros + np.log(0.5), "dof": zeros + 1}
    known |= {"n": np.full(n, 10), "reliable": np.ones(n, dtype=bool)}
    return CIResults(**(known | {name: values(n) for name, values in changed.items()}))


#: What a CI test can answer, and what is said of it.
TESTED = {
    "nothing": (lambda n: None, "CI test strange returned null, but must return CIResults"),
    "nan": (lambda n: results(n, p_value=lambda n: np.full(n, np.nan)), "CI test strange returned p_value nan"),
    "above": (
        lambda n: results(n, p_value=lambda n: np.full(n, 1.5)),
        "CI test strange returned the p-value 1.5, which is not between 0 and 1",
    ),
    "below": (
        lambda n: results(n, p_value=lambda n: np.full(n, -0.5)),
        "CI test strange returned the p-value -0.5, which is not between 0 and 1",
    ),
    "log": (lambda n: results(n, log_p=lambda n: np.ones(n)), "CI test strange returned log_p 1, which is above 0"),
    "short": (
        lambda n: results(n, p_value=lambda n: np.full(n - 1, 0.5)),
        "CI test strange returned p_value as shape (3,) of float64, but must return 4 numbers in an array",
    ),
    "list": (
        lambda n: results(n, statistic=lambda n: [0.0] * n),
        "CI test strange returned statistic as [0.0, 0.0, 0.0, 0.0], but must return 4 numbers in an array",
    ),
    "crash": (lambda n: crash(), "the process of the method was ended by signal SIGSEGV"),
}


@dataclass
class Strange(CITest):
    """Answers as it is asked to."""

    answer: str = choice("nan", "What it answers.", choices=tuple(TESTED))

    card: ClassVar[Card] = Card("strange", "Strange", "test", "Misbehaves.", "none", measures=("p-value",))

    def prepare(self, table, seed, target):
        return StrangeEngine(self.answer)


@dataclass
class StrangeEngine:
    answer: str

    def evaluate(self, candidates, target, given):
        return TESTED[self.answer][0](len(candidates))


#: What a scikit-learn selector can say of its features, and what is said of it.
SUPPORTED = {
    "names": (lambda n: np.array(["x0"]), "get_support returned an array of shape (1,) of <U2, but must return 4"),
    "short": (lambda n: np.ones(n - 1, dtype=bool), "get_support returned an array of shape (3,) of bool, but must"),
    "positions": (lambda n: np.arange(n), "get_support returned an array of shape (4,) of int64, but must return 4"),
    "nothing": (lambda n: None, "get_support returned null, but must return 4 true or false"),
    "square": (lambda n: np.eye(n, dtype=bool), "get_support returned an array of shape (4, 4) of bool, but must"),
    "importance": (lambda n: np.arange(n) == 0, "feature_importances_ holds nan, which is not a finite number"),
    "crash": (lambda n: crash(), "the process of the method was ended by signal SIGSEGV"),
}


class Picker(SelectorMixin, BaseEstimator):
    """A selector of scikit-learn's kind; it keeps the first feature, if nothing else is asked of it."""

    def __init__(self, said="well"):
        self.said = said

    def fit(self, X, y):
        self.n_features_in_ = X.shape[1]
        if self.said == "importance":
            self.feature_importances_ = np.full(X.shape[1], np.nan)
        return self

    def _get_support_mask(self):
        return np.arange(self.n_features_in_) == 0

    def get_support(self, indices=False):
        return super().get_support() if self.said == "well" else SUPPORTED[self.said][0](self.n_features_in_)


#: What a model can predict, and what is said of it.
PREDICTED = {
    "short": (lambda self, X: self.y_[: len(X) - 1], "the model returned predictions of shape"),
    "nan": (lambda self, X: np.full(len(X), np.nan), "the model returned predictions that are not finite"),
    "words": (
        lambda self, X: np.full(len(X), "yes"),
        "the model returned predictions of type <U3, which are not numbers",
    ),
    "stranger": (lambda self, X: np.full(len(X), 7), "the model predicted the class 7, which it was not taught"),
    "crash": (lambda self, X: crash(), "the process of the method was ended by signal SIGSEGV"),
    "fail": (lambda self, X: fail(), "Odd: it cannot be pickled"),
    "leave": (lambda self, X: leave(), "the method ended its process by sys.exit(that was all)"),
}
PROBABLE = {
    "sum": (lambda self, X: np.ones((len(X), 2)), "the model returned probabilities that are negative or whose sum"),
    "flat": (lambda self, X: np.ones(len(X)), "the model returned probabilities of shape"),
    "negative": (
        lambda self, X: np.tile([-1.0, 2.0], (len(X), 1)),
        "the model returned probabilities that are negative",
    ),
    "nan": (lambda self, X: np.full((len(X), 2), np.nan), "the model returned probabilities that are not finite"),
}


class Oracle(ClassifierMixin, BaseEstimator):
    """A classifier that predicts the first class, if nothing else is asked of it."""

    def __init__(self, predicted="well", probable="well"):
        self.predicted = predicted
        self.probable = probable

    def fit(self, X, y):
        self.y_, self.classes_ = y, np.unique(y)
        return self

    def predict(self, X):
        return np.full(len(X), self.classes_[0]) if self.predicted == "well" else PREDICTED[self.predicted][0](self, X)

    def predict_proba(self, X):
        first = np.tile(np.eye(len(self.classes_))[0], (len(X), 1))
        return first if self.probable == "well" else PROBABLE[self.probable][0](self, X)


class CrashingOracle(Oracle):
    def __init__(self):
        super().__init__(predicted="crash")


class Doomed(Picker):
    def fit(self, X, y):
        crash()
