"""The selector class of each method: a signature that editors and type checkers can read.

Generated from the declarations by `make docs`; do not edit. Here stand the summary of a method and its own parameters.
When a class is created, its docstring gets the rest: the method's text, what all selectors share, and the reference.
"""
# fmt: off

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

import numpy as np

from ..ci.base import CITest
from ..core.registry import discover
from .estimator import MarkovBlanketSelector

__all__ = ["BAHSIC", "CIFE", "CMIM", "DISR", "FCBF", "GS", "GSM", "HITONMB", "HITONPC", "HSMB", "IAMB", "IPCMB", "JMI",
    "KIAMB", "MIFS", "MIM", "MIMR", "MMMB", "MMPC", "MRI", "MRMR", "PCMB", "PPFS", "RES", "RGSMK", "SGAI", "SIHITONPC",
    "SPFSLAR", "SRS", "STMB", "All", "FastIAMB", "FisherMarkov", "IAMBnPC", "InformativeFragments", "InterIAMB",
    "InterIAMBnPC", "KollerSahami", "MixedMB", "PCSimple", "PermutationImportance", "RelaxMRMR", "Relief", "Relieved",
    "Stepwise", "TIEStar", "TrueBlanket"]

_METHODS: Mapping[str, Any] = discover("blanketflow.selectors")


class All(MarkovBlanketSelector):
    """Keep every feature."""

    method_class = _METHODS["all"]

    def __init__(self, *, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class BAHSIC(MarkovBlanketSelector):
    """Rank features by backward elimination: each round removes the features without which the HSIC is largest.

    Parameters
    ----------
    ci_test : str or CITest, default="hsic"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    share : float above 0 and below 1, default=0.1
        Share of the remaining features that is removed in each round.
    """

    method_class = _METHODS["bahsic"]

    def __init__(self, *, ci_test: str | CITest = "hsic", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", share: float = 0.1, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.share, self.n_folds = ci_test, n_features, model, share, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class CIFE(MarkovBlanketSelector):
    """Rank features by I(X;T) minus the sum of I(X;F) plus the sum of I(X;F|T) over the features F ranked before.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["cife"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class CMIM(MarkovBlanketSelector):
    """Rank features by the smallest of I(X;T) and I(X;T|F) over the features F ranked before.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["cmim"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class DISR(MarkovBlanketSelector):
    """Rank features by the sum of I(X,F;T) / H(X,F,T) over the features F ranked before, the first by I(X;T).

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["disr"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class FCBF(MarkovBlanketSelector):
    """Keep the features that no stronger one makes redundant, by symmetrical uncertainty.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    threshold : float at least 0 and below 1, default=0.0
        Symmetrical uncertainty SU(X,T) that a feature must exceed (the paper's delta).
    """

    method_class = _METHODS["fcbf"]

    def __init__(self, *, ci_test: str | CITest = "g2", threshold: float = 0.0, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.threshold, self.n_folds, self.fold_rows = ci_test, threshold, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class FastIAMB(MarkovBlanketSelector):
    """Admit several features per round, in decreasing dependence, while there are enough rows per cell; then remove.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    samples_per_cell : float at least 0, default=5.0
        Average number of rows per cell that an admission needs.
    """

    method_class = _METHODS["fast-iamb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None,
                 samples_per_cell: float = 5.0, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.samples_per_cell = ci_test, alpha, max_k, samples_per_cell
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class FisherMarkov(MarkovBlanketSelector):
    """Rank features by the variance between classes minus gamma times the variance.

    Parameters
    ----------
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    gamma : float, default=0.0
        Weight of the variance; a negative weight favours features of large variance.
    scale : {"standard", "raw"}, default="standard"
        Whether columns are standardised first (standard) or taken as they are (raw).
    threshold : float or None, default=None
        Coefficient that a feature must exceed; None for no threshold.
    """

    method_class = _METHODS["fisher-markov"]

    def __init__(self, *, n_features: int | list[int] | Literal["auto"] = 10, model: Any = "knn", gamma: float = 0.0,
                 scale: Literal["standard", "raw"] = "standard", threshold: float | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.n_features, self.model, self.gamma, self.scale, self.threshold = n_features, model, gamma, scale, threshold
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class GS(MarkovBlanketSelector):
    """Scan features in decreasing dependence, admitting any that depends on the target given the admitted ones.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    """

    method_class = _METHODS["gs"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.n_folds, self.fold_rows = ci_test, alpha, max_k, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class GSM(MarkovBlanketSelector):
    """Admit sets of up to m features that depend on the target together, even where none of them does alone.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set, including the other members of the tested set; None for no limit.
    m : int at least 1, default=2
        Largest set of features tested together.
    correction : {"bonferroni", "none"}, default="bonferroni"
        How growing corrects for many tests: bonferroni divides alpha by the number of sets of up to m features outside;
        none admits noise once there are dozens of features.
    """

    method_class = _METHODS["gs-m"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, m: int = 2,
                 correction: Literal["bonferroni", "none"] = "bonferroni", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.m, self.correction = ci_test, alpha, max_k, m, correction
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class HITONMB(MarkovBlanketSelector):
    """Find parents and children as HITON-PC does, and then spouses among the neighbours of neighbours.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["hiton-mb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class HITONPC(MarkovBlanketSelector):
    """Admit features in order of marginal dependence; after each admission all members are tested again.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["hiton-pc"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class HSMB(MarkovBlanketSelector):
    """Remove, in one pass, each feature that has an approximate Markov blanket among a few more dependent ones.

    Parameters
    ----------
    ci_test : str or CITest, default="hsic"
        Id of a CI test, or a configured test of `get_ci_test`.
    k : int at least 1, default=3
        Number of features that stand for a Markov blanket.
    """

    method_class = _METHODS["hsmb"]

    def __init__(self, *, ci_test: str | CITest = "hsic", k: int = 3, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.k, self.n_folds, self.fold_rows, self.aggregate = ci_test, k, n_folds, fold_rows, aggregate
        self.task, self.random_state, self.time_limit, self.max_tests = task, random_state, time_limit, max_tests
        self.n_jobs = n_jobs


class IAMB(MarkovBlanketSelector):
    """Admit the feature that depends most on the target given the admitted ones, until none does; then shrink.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    """

    method_class = _METHODS["iamb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.n_folds, self.fold_rows = ci_test, alpha, max_k, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class IAMBnPC(MarkovBlanketSelector):
    """Grow as IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set when shrinking; None for no limit.
    variant : {"pc", "subset"}, default="pc"
        Backward phase: the PC algorithm (pc), or subsets of the others (subset).
    """

    method_class = _METHODS["iamb-npc"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 variant: Literal["pc", "subset"] = "pc", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.variant, self.n_folds = ci_test, alpha, max_k, variant, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class IPCMB(MarkovBlanketSelector):
    """Find parents and children by level-wise elimination from all features, and then spouses.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["ipc-mb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class InformativeFragments(MarkovBlanketSelector):
    """Rank features by the smallest of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["if"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class InterIAMB(MarkovBlanketSelector):
    """Admit as IAMB does, with a backward pass after every admission, which keeps conditioning sets small.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    """

    method_class = _METHODS["inter-iamb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.n_folds, self.fold_rows = ci_test, alpha, max_k, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class InterIAMBnPC(MarkovBlanketSelector):
    """Grow as inter-IAMB does; then learn the skeleton of target and candidates, and read the blanket off it.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set when shrinking; None for no limit.
    variant : {"pc", "subset"}, default="pc"
        Backward phase: the PC algorithm (pc), or subsets of the others (subset).
    """

    method_class = _METHODS["inter-iamb-npc"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 variant: Literal["pc", "subset"] = "pc", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.variant, self.n_folds = ci_test, alpha, max_k, variant, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class JMI(MarkovBlanketSelector):
    """Rank features by the mean of I(X;T|F) over the features F ranked before, the first by I(X;T).

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["jmi"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class KIAMB(MarkovBlanketSelector):
    """Run IAMB `n_runs` times, admitting each time the strongest of a random share `k` of the dependent features.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    k : float at least 0 and at most 1, default=0.8
        Share of the dependent features from which an admission is chosen.
    n_runs : int at least 1, default=10
        Number of runs.
    """

    method_class = _METHODS["kiamb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, k: float = 0.8,
                 n_runs: int = 10, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.k, self.n_runs = ci_test, alpha, max_k, k, n_runs
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class KollerSahami(MarkovBlanketSelector):
    """Remove, one at a time, the feature that says least about the target beyond its nearest features.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, default=10
        Number of features to keep; all of them if there are fewer.
    k : int at least 0, default=2
        Number of features that stand for a Markov blanket (K).
    by : {"correlation", "gamma"}, default="correlation"
        Which features are near F: the features that share most information with it (correlation), or the features given
        which F says least about the target (gamma).
    """

    method_class = _METHODS["koller-sahami"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int = 10, k: int = 2,
                 by: Literal["correlation", "gamma"] = "correlation", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.k, self.by, self.n_folds = ci_test, n_features, k, by, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MIFS(MarkovBlanketSelector):
    """Rank features by I(X;T) minus beta times the sum of I(X;F) over the features F ranked before.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    beta : float at least 0, default=1.0
        Weight of the redundancy.
    """

    method_class = _METHODS["mifs"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", beta: float = 1.0, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.beta, self.n_folds = ci_test, n_features, model, beta, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MIM(MarkovBlanketSelector):
    """Rank features by I(X;T), each by itself.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["mim"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MIMR(MarkovBlanketSelector):
    """Rank features by (1 - balance) I(X;T) + balance times the mean of I(X;F|T) - I(X;F).

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    balance : float at least 0 and at most 1, default=0.5
        Weight of the interaction (lambda).
    start : {"single", "pair"}, default="single"
        Begin with the most relevant feature, or with the best pair.
    """

    method_class = _METHODS["mimr"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", balance: float = 0.5, start: Literal["single", "pair"] = "single",
                 n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.balance, self.start = ci_test, n_features, model, balance, start
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class MMMB(MarkovBlanketSelector):
    """Find parents and children as MMPC does, and then spouses among the neighbours of neighbours.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["mmmb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MMPC(MarkovBlanketSelector):
    """Admit the feature whose weakest dependence on the target, given any subset of those admitted, is strongest.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["mmpc"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MRI(MarkovBlanketSelector):
    """Rank features by I(X;T) plus the sum of I(X;T|F) + I(F;T|X) over the features F ranked before.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["mri"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MRMR(MarkovBlanketSelector):
    """Rank features by I(X;T) minus the mean of I(X;F) over the features F ranked before.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["mrmr"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.n_folds = ci_test, n_features, model, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class MixedMB(MarkovBlanketSelector):
    """Inter-IAMB with a likelihood-ratio test between regressions of the target, for any mixture of columns.

    Parameters
    ----------
    ci_test : str or CITest, default="lr-mixed"
        Id of a CI test, or a configured test of `get_ci_test`. The default is used with directions="target".
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set; None for no limit.
    """

    method_class = _METHODS["mixed-mb"]

    def __init__(self, *, ci_test: str | CITest = "lr-mixed", alpha: float = 0.05, max_k: int | None = None,
                 n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.n_folds, self.fold_rows = ci_test, alpha, max_k, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class PCMB(MarkovBlanketSelector):
    """Find parents and children by the max-min heuristic with elimination after each admission, and then spouses.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["pcmb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class PCSimple(MarkovBlanketSelector):
    """Start from all features and remove, level by level, the features that larger and larger sets of others separate.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["pc-simple"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class PPFS(MarkovBlanketSelector):
    """Admit every feature that the PPI test finds dependent given nothing; then test each given the rest, once.

    Parameters
    ----------
    ci_test : str or CITest, default="ppi"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    correction : {"none", "bh", "by", "bonferroni"}, default="none"
        How growing corrects for many tests: not at all (none, the paper), by the false discovery rate at alpha (bh,
        Benjamini and Hochberg; by, Benjamini and Yekutieli, under any dependence), or by alpha / d (bonferroni).
    n_repeats : int at least 2 and at most 100000, or None, default=None
        Random train/test splits (the PPFS paper's B). None: the test's own (30).
    model : str, dict, estimator or None, default=None
        The model: tree (own CART), another model id, 'module:Class', or a scikit-learn estimator. None: the test's own
        ("tree").
    test_size : float above 0 and below 1, or None, default=None
        Share of rows in the test part of a repeat. None: the test's own (0.2).
    significance : {"wilcoxon", "corrected-t"} or None, default=None
        wilcoxon (the paper) or corrected-t (calibrated). None: the test's own ("wilcoxon").
    """

    method_class = _METHODS["ppfs"]

    def __init__(self, *, ci_test: str | CITest = "ppi", alpha: float = 0.05,
                 correction: Literal["none", "bh", "by", "bonferroni"] = "none", n_repeats: int | None = None,
                 model: Any = None, test_size: float | None = None,
                 significance: Literal["wilcoxon", "corrected-t"] | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.correction, self.n_repeats = ci_test, alpha, correction, n_repeats
        self.model, self.test_size, self.significance, self.n_folds = model, test_size, significance, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class PermutationImportance(MarkovBlanketSelector):
    """Keep the features that matter more to a model than they do when the target is permuted.

    Parameters
    ----------
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    model : str, dict or estimator, default="forest"
        The model: a model id, 'module:Class', or a scikit-learn estimator.
    n_permutations : int at least 2, default=100
        Number of permuted targets.
    importance : {"auto", "model", "permutation"}, default="auto"
        What the fitted model says of its columns (model), the loss of accuracy or R2 on rows held out when a feature is
        permuted (permutation), or the first for models that have it (auto).
    n_splits : int at least 2, default=5
        Number of parts, each held out once, for importance: permutation.
    null : {"empirical", "normal", "lognormal", "gamma"}, default="empirical"
        Distribution of a feature's importances under permuted targets; importances that cannot follow it (all equal, or
        not all positive for lognormal and gamma) are counted (empirical).
    """

    method_class = _METHODS["permutation-importance"]

    def __init__(self, *, alpha: float = 0.05, model: Any = "forest", n_permutations: int = 100,
                 importance: Literal["auto", "model", "permutation"] = "auto", n_splits: int = 5,
                 null: Literal["empirical", "normal", "lognormal", "gamma"] = "empirical", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.alpha, self.model, self.n_permutations, self.importance = alpha, model, n_permutations, importance
        self.n_splits, self.null, self.n_folds, self.fold_rows = n_splits, null, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class RES(MarkovBlanketSelector):
    """Keep the parents and children that HITON-PC finds, and the parents and children of each of these.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="none"
        Symmetry check of neighbours: found from both sides (and), from either side (or), or no check (none).
    """

    method_class = _METHODS["res"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "none", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class RGSMK(MarkovBlanketSelector):
    """Admit the strongest of k random sets of up to m features until it is independent; then shrink as GS does.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=None
        Largest conditioning set, including the other members of the tested set; None for no limit.
    m : int at least 1, default=3
        Largest set of features tested together.
    correction : {"bonferroni", "none"}, default="bonferroni"
        How growing corrects for many tests: bonferroni divides alpha by the number of sets of up to m features outside;
        none admits noise once there are dozens of features.
    k : int at least 1, default=1000
        Number of random sets per scan.
    """

    method_class = _METHODS["rgs-mk"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = None, m: int = 3,
                 correction: Literal["bonferroni", "none"] = "bonferroni", k: int = 1000, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.m, self.correction, self.k = ci_test, alpha, max_k, m, correction, k
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class RelaxMRMR(MarkovBlanketSelector):
    """Rank features by JMI's criterion minus the redundancy with one ranked feature given another.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    variant : {"original", "eq44"}, default="original"
        Weights of the original publication, or of the unified-view paper's eq. 44.
    """

    method_class = _METHODS["relax-mrmr"]

    def __init__(self, *, ci_test: str | CITest = "g2", n_features: int | list[int] | Literal["auto"] = 10,
                 model: Any = "knn", variant: Literal["original", "eq44"] = "original", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.n_features, self.model, self.variant = ci_test, n_features, model, variant
        self.n_folds, self.fold_rows, self.aggregate, self.task = n_folds, fold_rows, aggregate, task
        self.random_state, self.time_limit, self.max_tests, self.n_jobs = random_state, time_limit, max_tests, n_jobs


class Relief(MarkovBlanketSelector):
    """Rank features by how well they tell near rows of other classes (misses) from near rows of the same class (hits).

    Parameters
    ----------
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    n_iterations : int at least 1, or None, default=None
        Number of rows drawn, with replacement (m); None takes each row once.
    n_neighbors : int at least 1, default=10
        Number of hits of each row, and of misses from each other class (k); 1 is Relief.
    sigma : float above 0, or None, default=None
        Weight of the r-th nearest neighbour: exp(-(r / sigma)^2), divided by their sum; None weighs all alike.
    threshold : float at least -1 and at most 1, or None, default=None
        Weight that a feature must exceed (tau); None for no threshold.
    """

    method_class = _METHODS["relief"]

    def __init__(self, *, n_features: int | list[int] | Literal["auto"] = 10, model: Any = "knn",
                 n_iterations: int | None = None, n_neighbors: int = 10, sigma: float | None = None,
                 threshold: float | None = None, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.n_features, self.model, self.n_iterations, self.n_neighbors = n_features, model, n_iterations, n_neighbors
        self.sigma, self.threshold, self.n_folds, self.fold_rows = sigma, threshold, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class Relieved(MarkovBlanketSelector):
    """Rank features as Relief does, from every instance and all of its nearest hits and misses.

    Parameters
    ----------
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    threshold : float at least -1 and at most 1, or None, default=None
        Weight that a feature must exceed (tau); None for no threshold.
    """

    method_class = _METHODS["relieved"]

    def __init__(self, *, n_features: int | list[int] | Literal["auto"] = 10, model: Any = "knn",
                 threshold: float | None = None, n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.n_features, self.model, self.threshold, self.n_folds = n_features, model, threshold, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class SGAI(MarkovBlanketSelector):
    """Visit the representative sets one at a time, and admit features by alpha-investing.

    Parameters
    ----------
    ci_test : str or CITest, default="lr-mixed"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="none"
        Symmetry check of neighbours: found from both sides (and), from either side (or), or no check (none).
    wealth : float above 0 and at most 1, default=0.5
        Initial wealth W; the first test is at level W / 2.
    payout : float above 0 and at most 1, default=0.5
        What an admission adds to the wealth.
    """

    method_class = _METHODS["sgai"]

    def __init__(self, *, ci_test: str | CITest = "lr-mixed", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "none", wealth: float = 0.5, payout: float = 0.5,
                 n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.wealth = ci_test, alpha, max_k, symmetry, wealth
        self.payout, self.n_folds, self.fold_rows, self.aggregate = payout, n_folds, fold_rows, aggregate
        self.task, self.random_state, self.time_limit, self.max_tests = task, random_state, time_limit, max_tests
        self.n_jobs = n_jobs


class SIHITONPC(MarkovBlanketSelector):
    """Admit features in order of marginal dependence, testing each on entry; test all members once again at the end.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="and"
        Symmetry check: keep features whose own search finds the target too (and), features found from either side (or),
        or do not check (none).
    """

    method_class = _METHODS["si-hiton-pc"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "and", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.n_folds = ci_test, alpha, max_k, symmetry, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class SPFSLAR(MarkovBlanketSelector):
    """Admit features in the order in which a least-angle path towards the target's similarity of rows takes them up.

    Parameters
    ----------
    n_features : int at least 1, list of int, or "auto", default=10
        Number of features to keep (psi), all of them if there are fewer; a list gives one answer for each number; auto
        takes the number that predicts held-out rows best.
    model : str, dict or estimator, default="knn"
        Model for n_features: auto; a model id, 'module:Class', or a scikit-learn estimator.
    """

    method_class = _METHODS["spfs-lar"]

    def __init__(self, *, n_features: int | list[int] | Literal["auto"] = 10, model: Any = "knn", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.n_features, self.model, self.n_folds, self.fold_rows = n_features, model, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class SRS(MarkovBlanketSelector):
    """Keep the features of the representative sets to which a sparse group lasso gives a coefficient.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set; None for no limit.
    symmetry : {"and", "or", "none"}, default="none"
        Symmetry check of neighbours: found from both sides (and), from either side (or), or no check (none).
    lambda1 : float above 0 and at most 1, or None, default=None
        Penalty on groups, as a share of the largest; None for the best by cross-validation.
    lambda2 : float above 0 and at most 1, or None, default=None
        Penalty on features, as a share of the largest; None for the best by cross-validation.
    lambda_step : float above 0 and at most 0.1, default=0.005
        Step between the shares that cross-validation tries.
    n_splits : int at least 2, default=5
        Number of parts of the cross-validation.
    """

    method_class = _METHODS["srs"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3,
                 symmetry: Literal["and", "or", "none"] = "none", lambda1: float | None = None,
                 lambda2: float | None = None, lambda_step: float = 0.005, n_splits: int = 5, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.symmetry, self.lambda1 = ci_test, alpha, max_k, symmetry, lambda1
        self.lambda2, self.lambda_step, self.n_splits, self.n_folds = lambda2, lambda_step, n_splits, n_folds
        self.fold_rows, self.aggregate, self.task, self.random_state = fold_rows, aggregate, task, random_state
        self.time_limit, self.max_tests, self.n_jobs = time_limit, max_tests, n_jobs


class STMB(MarkovBlanketSelector):
    """Find parents and children by level-wise elimination; find spouses among all others, and let them remove more.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    max_k : int at least 0, or None, default=3
        Largest conditioning set of the search for neighbours; None for no limit.
    """

    method_class = _METHODS["stmb"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05, max_k: int | None = 3, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.max_k, self.n_folds, self.fold_rows = ci_test, alpha, max_k, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs


class Stepwise(MarkovBlanketSelector):
    """Admit the feature that raises a model's cross-validated score most, and remove what it makes superfluous.

    Parameters
    ----------
    model : str, dict or estimator, default="knn"
        The model: a model id, 'module:Class', or a scikit-learn estimator.
    scoring : str or callable, default="auto"
        A scikit-learn scorer or its name; auto: accuracy for classification, r2 for regression.
    n_splits : int at least 2, default=5
        Number of parts of the cross-validation; fewer if parts would have less than 2 rows.
    tolerance : float at least 0, default=0.01
        Gain of score that a feature must bring, in the unit of `scoring`.
    max_features : int at least 1, or None, default=None
        Largest number of features; None for no limit.
    """

    method_class = _METHODS["stepwise"]

    def __init__(self, *, model: Any = "knn", scoring: str | Callable[..., float] = "auto", n_splits: int = 5,
                 tolerance: float = 0.01, max_features: int | None = None, n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.model, self.scoring, self.n_splits, self.tolerance = model, scoring, n_splits, tolerance
        self.max_features, self.n_folds, self.fold_rows, self.aggregate = max_features, n_folds, fold_rows, aggregate
        self.task, self.random_state, self.time_limit, self.max_tests = task, random_state, time_limit, max_tests
        self.n_jobs = n_jobs


class TIEStar(MarkovBlanketSelector):
    """Find a Markov boundary, then others by leaving out features of those found, until no choice of them is left.

    Parameters
    ----------
    ci_test : str or CITest, default="g2"
        Id of a CI test, or a configured test of `get_ci_test`.
    alpha : float above 0 and below 1, default=0.05
        Significance level.
    base : {"iamb", "si-hiton-pc"}, default="iamb"
        Base method; without a symmetry correction.
    max_k : int at least 0, or None, default=None
        Largest conditioning set of the base method; None for no limit.
    criterion : {"independence", "prediction"}, default="independence"
        When a set counts as a Markov boundary.
    max_blankets : int at least 1, or None, default=100
        Largest number of Markov boundaries; None for no limit.
    """

    method_class = _METHODS["tie-star"]

    def __init__(self, *, ci_test: str | CITest = "g2", alpha: float = 0.05,
                 base: Literal["iamb", "si-hiton-pc"] = "iamb", max_k: int | None = None,
                 criterion: Literal["independence", "prediction"] = "independence", max_blankets: int | None = 100,
                 n_folds: int = 0, fold_rows: Literal["train", "part"] = "train",
                 aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.ci_test, self.alpha, self.base, self.max_k, self.criterion = ci_test, alpha, base, max_k, criterion
        self.max_blankets, self.n_folds, self.fold_rows, self.aggregate = max_blankets, n_folds, fold_rows, aggregate
        self.task, self.random_state, self.time_limit, self.max_tests = task, random_state, time_limit, max_tests
        self.n_jobs = n_jobs


class TrueBlanket(MarkovBlanketSelector):
    """Keep the features that are known to form the blanket; the workflow fills them in for simulated data.

    Parameters
    ----------
    blanket : list of str, or dict of str to str, default=()
        Names of the blanket's features, or names with their roles.
    part : {"blanket", "parents-and-children"}, default="blanket"
        What to keep: the whole blanket, or only the target's parents-and-children.
    """

    method_class = _METHODS["true-blanket"]

    def __init__(self, *, blanket: Sequence[str] | Mapping[str, str] = (),
                 part: Literal["blanket", "parents-and-children"] = "blanket", n_folds: int = 0,
                 fold_rows: Literal["train", "part"] = "train", aggregate: str | Mapping[str, float] = "best-blanket",
                 task: Literal["auto", "classification", "regression"] = "auto",
                 random_state: int | np.random.RandomState | None = 0, time_limit: float | None = None,
                 max_tests: int | None = None, n_jobs: int | None = None) -> None:
        self.blanket, self.part, self.n_folds, self.fold_rows = blanket, part, n_folds, fold_rows
        self.aggregate, self.task, self.random_state, self.time_limit = aggregate, task, random_state, time_limit
        self.max_tests, self.n_jobs = max_tests, n_jobs
