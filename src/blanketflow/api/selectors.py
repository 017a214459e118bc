"""The selector class of each method, with the parameters of its signature for editors and type checkers.

Generated from the declarations by `make docs`; do not edit. When a class is created, `MarkovBlanketSelector` gives it
its ``__init__`` and completes its docstring: the method's text, the meaning and range of all parameters, the reference.
"""
# fmt: off
# ruff: noqa: E501 - the summary of a method may fill its line, and here its quotes close on it

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..ci.base import CITest
from ..core.registry import discover
from .estimator import MarkovBlanketSelector

__all__ = ["BAHSIC", "CIFE", "CMIM", "DCRT", "DISR", "FCBF", "GS", "GSM", "HITONMB", "HITONPC", "HSMB", "IAMB", "IPCMB",
    "IPSS", "JMI", "KIAMB", "MIFS", "MIM", "MIMR", "MMMB", "MMPC", "MRI", "MRMR", "PCMB", "PPFS", "RES", "RGSMK",
    "SGAI", "SIHITONPC", "SPFSLAR", "SRS", "STMB", "All", "Auto", "Discover", "FastIAMB", "FisherMarkov", "IAMBnPC",
    "InformativeFragments", "InterIAMB", "InterIAMBnPC", "Knockoffs", "KollerSahami", "MixedMB", "NoFeatures",
    "OneRule", "PCSimple", "PermutationImportance", "RelaxMRMR", "Relief", "Relieved", "StabilitySelection", "Stepwise",
    "TIEStar", "TrueBlanket", "Variance"]

_METHODS: Mapping[str, Any] = discover("blanketflow.selectors")


class All(MarkovBlanketSelector):
    """Keep every feature that varies."""

    method_class = _METHODS["all"]


class Auto(MarkovBlanketSelector):
    """Keep the smallest set of features with which models predict as well as with the best set."""

    method_class = _METHODS["auto"]
    max_candidates: int = 60
    n_parts: int = 5
    metric: Literal["auto", "error", "log-loss", "r2", "normal-scores"] = "auto"
    max_features: int | None = None
    n_features: int | None = None
    budget: Mapping[str, int] | None = None


class BAHSIC(MarkovBlanketSelector):
    """Rank features by backward elimination: each round removes the features without which the HSIC is largest."""

    method_class = _METHODS["bahsic"]
    ci_test: str | CITest | None = "hsic"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    share: float = 0.1


class CIFE(MarkovBlanketSelector):
    """Rank features by I(X;T) minus the sum of I(X;F) plus the sum of I(X;F|T) over the features F ranked before."""

    method_class = _METHODS["cife"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class CMIM(MarkovBlanketSelector):
    """Rank features by the smallest of I(X;T) and I(X;T|F) over the features F ranked before."""

    method_class = _METHODS["cmim"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class DCRT(MarkovBlanketSelector):
    """Keep the features whose distilled conditional randomisation test rejects independence given all others."""

    method_class = _METHODS["dcrt"]
    alpha: float = 0.05
    correction: Literal["bh", "by", "none"] = "bh"
    covariance: Any = None
    squares: float = 0.0
    weighting: float = 0.0
    penalty: float | None = None


class DISR(MarkovBlanketSelector):
    """Rank features by the sum of I(X,F;T) / H(X,F,T) over the features F ranked before, the first by I(X;T)."""

    method_class = _METHODS["disr"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class Discover(MarkovBlanketSelector):
    """Keep the features that are discoveries at a false discovery rate."""

    method_class = _METHODS["discover"]
    q: float = 0.1
    procedure: Literal["dcrt", "knockoffs"] = "dcrt"


class FCBF(MarkovBlanketSelector):
    """Rank features by symmetrical uncertainty, and remove those that a stronger feature makes redundant."""

    method_class = _METHODS["fcbf"]
    ci_test: str | CITest | None = "g2"
    alpha: float | None = 0.05
    threshold: float = 0.0
    information: Literal["adjusted", "plug-in"] = "adjusted"


class FastIAMB(MarkovBlanketSelector):
    """Admit several features per round by decreasing dependence, while there are enough rows per cell; then remove."""

    method_class = _METHODS["fast-iamb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    samples_per_cell: float = 5.0
    min_effect: float | None = None


class FisherMarkov(MarkovBlanketSelector):
    """Rank features by the variance between classes minus gamma times the variance."""

    method_class = _METHODS["fisher-markov"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    gamma: float = 0.0
    scale: Literal["standard", "raw"] = "standard"
    threshold: float | None = None


class GS(MarkovBlanketSelector):
    """Scan features by decreasing dependence, and admit each that depends on the target given the admitted ones."""

    method_class = _METHODS["gs"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class GSM(MarkovBlanketSelector):
    """Admit sets of up to m features that depend on the target jointly, even if no single one does."""

    method_class = _METHODS["gs-m"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["bonferroni", "none"] = "bonferroni"
    m: int = 2
    min_effect: float | None = None


class HITONMB(MarkovBlanketSelector):
    """Find parents and children as HITON-PC does, then spouses among the neighbours of neighbours."""

    method_class = _METHODS["hiton-mb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class HITONPC(MarkovBlanketSelector):
    """Admit features by decreasing marginal dependence, and test all members again after each admission."""

    method_class = _METHODS["hiton-pc"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class HSMB(MarkovBlanketSelector):
    """Remove, in one pass, each feature that has an approximate Markov blanket among stronger features."""

    method_class = _METHODS["hsmb"]
    ci_test: str | CITest | None = "hsic"
    k: int = 3


class IAMB(MarkovBlanketSelector):
    """Admit the feature that depends most on the target given the admitted ones, until none does; then shrink."""

    method_class = _METHODS["iamb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class IAMBnPC(MarkovBlanketSelector):
    """Grow as IAMB does; then learn the skeleton of target and candidates with PC, and read the blanket from it."""

    method_class = _METHODS["iamb-npc"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    variant: Literal["pc", "subset"] = "pc"
    min_effect: float | None = None


class IPCMB(MarkovBlanketSelector):
    """Find parents and children by level-wise elimination from all features, then spouses."""

    method_class = _METHODS["ipc-mb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class IPSS(MarkovBlanketSelector):
    """Keep the features whose stability paths, integrated over all strengths of selection, are high."""

    method_class = _METHODS["ipss"]
    q: float = 0.1
    max_false: float | None = None
    base: Literal["lasso", "model", "cife", "cmim", "disr", "fisher-markov", "jmi", "mifs", "mim", "mrmr", "relief", "spfs-lar"] = "lasso"
    model: Any = "lightgbm"
    pairs: int = 50
    power: int | None = None
    cutoff: float = 0.05
    delta: float = 1.0


class InformativeFragments(MarkovBlanketSelector):
    """Rank features by the smallest of I(X;T|F) over the features F ranked before, the first by I(X;T)."""

    method_class = _METHODS["if"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class InterIAMB(MarkovBlanketSelector):
    """Admit features as IAMB does, with a backward pass after every admission to keep conditioning sets small."""

    method_class = _METHODS["inter-iamb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class InterIAMBnPC(MarkovBlanketSelector):
    """Grow as Inter-IAMB does; then learn the skeleton of target and candidates, and read the blanket from it."""

    method_class = _METHODS["inter-iamb-npc"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    variant: Literal["pc", "subset"] = "pc"
    min_effect: float | None = None


class JMI(MarkovBlanketSelector):
    """Rank features by the mean of I(X;T|F) over the features F ranked before, the first by I(X;T)."""

    method_class = _METHODS["jmi"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class KIAMB(MarkovBlanketSelector):
    """Run IAMB `n_runs` times, each time admitting the strongest of a random share `k` of the dependent features."""

    method_class = _METHODS["kiamb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    k: float = 0.8
    n_runs: int = 10
    min_effect: float | None = None


class Knockoffs(MarkovBlanketSelector):
    """Keep the features that matter clearly more to the target than their knockoffs do."""

    method_class = _METHODS["knockoffs"]
    q: float = 0.1
    max_q: float | None = None
    importance: Literal["lasso", "correlation", "model", "test"] = "lasso"
    model: Any = "lightgbm"
    draws: int = 1
    construction: Literal["auto", "mvr", "equicorrelated"] = "auto"
    covariance: Any = None
    law: Literal["gaussian", "markov-chain", "network"] = "gaussian"
    network: Any = None
    arcs: Any = None
    importance_test: Any = "lr-mixed"
    bandwidth: int | None = None
    n_factors: int | None = None


class KollerSahami(MarkovBlanketSelector):
    """Remove, one at a time, the feature with the least information on the target given its nearest features."""

    method_class = _METHODS["koller-sahami"]
    ci_test: str | CITest | None = "g2"
    n_features: int = 10
    k: int = 2
    by: Literal["correlation", "gamma"] = "correlation"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class MIFS(MarkovBlanketSelector):
    """Rank features by I(X;T) minus beta times the sum of I(X;F) over the features F ranked before."""

    method_class = _METHODS["mifs"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"
    beta: float = 1.0


class MIM(MarkovBlanketSelector):
    """Rank features by I(X;T), each by itself."""

    method_class = _METHODS["mim"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class MIMR(MarkovBlanketSelector):
    """Rank features by (1 - balance) I(X;T) + balance times the mean of I(X;F|T) - I(X;F)."""

    method_class = _METHODS["mimr"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"
    balance: float = 0.5
    start: Literal["single", "pair"] = "single"


class MMMB(MarkovBlanketSelector):
    """Find parents and children as MMPC does, then spouses among the neighbours of neighbours."""

    method_class = _METHODS["mmmb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class MMPC(MarkovBlanketSelector):
    """Admit the feature whose minimum dependence on the target over all subsets of the admitted ones is largest."""

    method_class = _METHODS["mmpc"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class MRI(MarkovBlanketSelector):
    """Rank features by I(X;T) plus the sum of I(X;T|F) + I(F;T|X) over the features F ranked before."""

    method_class = _METHODS["mri"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class MRMR(MarkovBlanketSelector):
    """Rank features by I(X;T) minus the mean of I(X;F) over the features F ranked before."""

    method_class = _METHODS["mrmr"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"


class MixedMB(MarkovBlanketSelector):
    """Inter-IAMB with a likelihood-ratio test between regressions of the target, for any mixture of columns."""

    method_class = _METHODS["mixed-mb"]
    ci_test: str | CITest | None = "lr-mixed"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class NoFeatures(MarkovBlanketSelector):
    """Keep no feature. Models then predict the class shares or the mean."""

    method_class = _METHODS["none"]


class OneRule(MarkovBlanketSelector):
    """Rank features by how well a single rule predicts the target: for each level of a feature, the usual value."""

    method_class = _METHODS["one-rule"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    bins: int = 5


class PCMB(MarkovBlanketSelector):
    """Find parents and children by the max-min heuristic with elimination after each admission, then spouses."""

    method_class = _METHODS["pcmb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class PCSimple(MarkovBlanketSelector):
    """Start from all features and remove, level by level, those that a set of others separates, of increasing size."""

    method_class = _METHODS["pc-simple"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class PPFS(MarkovBlanketSelector):
    """Admit all features that the PPI test finds marginally dependent; then test each once given the others."""

    method_class = _METHODS["ppfs"]
    ci_test: str | CITest | None = "ppi"
    alpha: float = 0.05
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None
    n_repeats: int | None = None
    model: Any = None
    test_size: float | None = None
    significance: Literal["wilcoxon", "corrected-t"] | None = None


class PermutationImportance(MarkovBlanketSelector):
    """Keep the features that are more important to a model than under permutations of the target."""

    method_class = _METHODS["permutation-importance"]
    alpha: float = 0.05
    model: Any = None
    n_permutations: int = 20
    importance: Literal["auto", "model", "permutation"] = "auto"
    n_splits: int = 5
    null: Literal["empirical", "normal", "lognormal", "gamma"] = "empirical"


class RES(MarkovBlanketSelector):
    """Keep the parents and children that HITON-PC finds, and the parents and children of each of these."""

    method_class = _METHODS["res"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "none"
    min_effect: float | None = None


class RGSMK(MarkovBlanketSelector):
    """Admit the strongest of k random sets of up to m features until it is independent; then shrink as GS does."""

    method_class = _METHODS["rgs-mk"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = None
    correction: Literal["bonferroni", "none"] = "bonferroni"
    m: int = 3
    k: int = 1000
    draw_by: Literal["size", "set"] = "size"
    min_effect: float | None = None


class RelaxMRMR(MarkovBlanketSelector):
    """Rank features by JMI's criterion minus the redundancy with one ranked feature given another."""

    method_class = _METHODS["relax-mrmr"]
    ci_test: str | CITest | None = "g2"
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    information: Literal["adjusted", "plug-in"] = "adjusted"
    variant: Literal["original", "eq44"] = "original"


class Relief(MarkovBlanketSelector):
    """Rank features by how well they separate near rows of other classes (misses) from those of the same (hits)."""

    method_class = _METHODS["relief"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    n_iterations: int | None = None
    n_neighbors: int = 10
    sigma: float | None = None
    threshold: float | None = None


class Relieved(MarkovBlanketSelector):
    """Rank features as Relief does, from every row and all of its nearest hits and misses."""

    method_class = _METHODS["relieved"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
    threshold: float | None = None


class SGAI(MarkovBlanketSelector):
    """Visit the representative sets one at a time, and admit features by alpha-investing."""

    method_class = _METHODS["sgai"]
    ci_test: str | CITest | None = "lr-mixed"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "none"
    wealth: float = 0.5
    payout: float = 0.5
    min_effect: float | None = None


class SIHITONPC(MarkovBlanketSelector):
    """Admit features by decreasing marginal dependence, testing each on entry; test all members again at the end."""

    method_class = _METHODS["si-hiton-pc"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "and"
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class SPFSLAR(MarkovBlanketSelector):
    """Rank features by their order of entry into a least-angle path towards the target's similarity of rows."""

    method_class = _METHODS["spfs-lar"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"


class SRS(MarkovBlanketSelector):
    """Keep the features of the representative sets that have a coefficient in a sparse group lasso."""

    method_class = _METHODS["srs"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    symmetry: Literal["and", "or", "none"] = "none"
    lambda1: float | None = None
    lambda2: float | None = None
    lambda_step: float = 0.005
    n_splits: int = 5
    min_effect: float | None = None


class STMB(MarkovBlanketSelector):
    """Find parents and children by level-wise elimination, then spouses among all others, which may remove neighbours."""

    method_class = _METHODS["stmb"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    max_k: int | None = 3
    correction: Literal["none", "bh", "by", "bonferroni"] = "none"
    min_effect: float | None = None


class StabilitySelection(MarkovBlanketSelector):
    """Keep the features that a ranking puts among its first on most of many random halves of the rows."""

    method_class = _METHODS["stability-selection"]
    ranking: Literal["lasso", "cife", "cmim", "disr", "fisher-markov", "jmi", "mifs", "mim", "mrmr", "relief", "spfs-lar"] = "lasso"
    n_features: int | None = None
    bound: float = 1.0
    threshold: float | None = 0.75
    pairs: int = 50


class Stepwise(MarkovBlanketSelector):
    """Admit the feature that raises a model's cross-validated score most, and remove features that become superfluous."""

    method_class = _METHODS["stepwise"]
    model: Any = "knn"
    scoring: str | Callable[..., float] = "auto"
    n_splits: int = 5
    tolerance: float = 0.01
    max_features: int | None = None


class TIEStar(MarkovBlanketSelector):
    """Find a Markov boundary, then further ones by repeating the search without some features of those found."""

    method_class = _METHODS["tie-star"]
    ci_test: str | CITest | None = "auto"
    alpha: float = 0.05
    base: Literal["iamb", "si-hiton-pc"] = "iamb"
    max_k: int | None = None
    criterion: Literal["independence", "prediction"] = "independence"
    max_blankets: int | None = 100
    min_effect: float | None = None


class TrueBlanket(MarkovBlanketSelector):
    """Keep the features of a known blanket; the workflow fills them in for simulated data."""

    method_class = _METHODS["true-blanket"]
    blanket: Sequence[str] | Mapping[str, str] = ()
    part: Literal["blanket", "parents-and-children"] = "blanket"


class Variance(MarkovBlanketSelector):
    """Rank features by their variance, whatever the target is."""

    method_class = _METHODS["variance"]
    n_features: int | list[int] | Literal["auto"] = 10
    model: Any = "knn"
