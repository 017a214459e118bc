"""The methods of blanketflow as feature selectors of TabArena (branch `fe_benchmark_main`, April 2026).

Every class takes what TabArena's selectors take, and `fill`. With ``fill=True``, the default, there are always as many
features as `max_features` says: those that the method selects, then their stand-ins (features that have at least 0.8 of
the information of a selected one), then the ranking of JMI, for which no features have to be told apart from noise.
With ``fill=False`` there are only those that the method selects, at most `max_features`.

Features are given most important first, so a limit keeps the most important ones. `auto`, `stepwise` and rankings are
told the limit; of other methods the first features are taken.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any, ClassVar

from tabarena.benchmark.feature_selection_methods.abstract.abstract_feature_selector import AbstractFeatureSelector

import blanketflow as bf
from blanketflow.core.limits import LimitReached

if TYPE_CHECKING:
    import pandas as pd

#: What methods without a ranking are filled with.
RANKING = "jmi"


class BlanketflowFeatureSelector(AbstractFeatureSelector):
    """A method of blanketflow; a subclass names it.

    Parameters
    ----------
    max_features : int, float or callable
        Most features to select, as for all selectors of TabArena.
    fill : bool
        Whether features are added until there are `max_features`.
    **kwargs
        What the base class takes.

    Attributes
    ----------
    n_selected : int
        How many of the features, the first ones, the method selected itself; set in fitting with ``fill=True``.
    """

    method: ClassVar[str]
    #: The option of the method that is told the limit, if it has one.
    limited_by: ClassVar[str | None] = None

    def __init__(self, max_features: Any, *, fill: bool = True, **kwargs: Any) -> None:
        super().__init__(max_features, **kwargs)
        self.fill = fill
        # Scores of `max_features` features leave nothing for the base class to add at random.
        self.feature_scoring_method = fill

    def _fit_feature_selection(self, *, X: pd.DataFrame, y: pd.Series, time_limit: float | None = None) -> list[str]:
        return self._selected(self.method, self.limited_by, X, y, time_limit)[0]

    def _fit_feature_scoring(
        self, *, X: pd.DataFrame, y: pd.Series, time_limit: float | None = None
    ) -> dict[str, float]:
        begin = time.monotonic()
        selected, stand_ins = self._selected(self.method, self.limited_by, X, y, time_limit)
        self.n_selected = len(selected)
        features = list(dict.fromkeys([*selected, *stand_ins]))
        if len(features) < self.max_features:
            left = None if time_limit is None else max(1.0, time_limit - (time.monotonic() - begin))
            ranked, _ = self._selected(RANKING, "n_features", X, y, left)
            features = list(dict.fromkeys([*features, *ranked]))
        return {feature: float(len(features) - place) for place, feature in enumerate(features)}

    def _selected(
        self, method: str, limited_by: str | None, X: pd.DataFrame, y: pd.Series, time_limit: float | None
    ) -> tuple[list[str], list[str]]:
        """Return at most `max_features` features, most important first, and the stand-ins of them in this order."""
        tasks = {"binary": "classification", "multiclass": "classification", "regression": "regression"}
        limit = {} if limited_by is None else {limited_by: self.max_features}
        seed = self.random_state if isinstance(self.random_state, int) else 0
        options = {"missing": "impute", "random_state": seed, "time_limit": time_limit, **limit}
        try:
            found = bf.get_selector(method, task=tasks.get(self.problem_type, "auto"), **options).fit(X, y)
        except LimitReached as reached:
            self._log(30, f"Warning: {method} selected nothing: {reached}")
            return [], []
        selected = found.selected_features_[: self.max_features]
        return selected, [other.feature for feature in selected for other in found.stand_ins_.get(feature, [])]


def _selector(name: str, method: str, limited_by: str | None = None) -> type[BlanketflowFeatureSelector]:
    """Return the class of a method, under the name that it has in this module."""
    own = {"__doc__": f"`{method}` of blanketflow.", "__module__": __name__, "__qualname__": name}
    return type(name, (BlanketflowFeatureSelector,), own | {"name": name, "method": method, "limited_by": limited_by})


AutoSelector = _selector("AutoSelector", "auto", "max_features")
#: The best set of exactly as many features as are asked for, in place of the smallest one that loses nothing.
AutoExactSelector = _selector("AutoExactSelector", "auto", "n_features")

# Rankings.
BAHSICSelector = _selector("BAHSICSelector", "bahsic", "n_features")
CIFESelector = _selector("CIFESelector", "cife", "n_features")
CMIMSelector = _selector("CMIMSelector", "cmim", "n_features")
DISRSelector = _selector("DISRSelector", "disr", "n_features")
FisherMarkovSelector = _selector("FisherMarkovSelector", "fisher-markov", "n_features")
InformativeFragmentsSelector = _selector("InformativeFragmentsSelector", "if", "n_features")
JMISelector = _selector("JMISelector", "jmi", "n_features")
MIFSSelector = _selector("MIFSSelector", "mifs", "n_features")
MIMSelector = _selector("MIMSelector", "mim", "n_features")
MIMRSelector = _selector("MIMRSelector", "mimr", "n_features")
MRISelector = _selector("MRISelector", "mri", "n_features")
MRMRSelector = _selector("MRMRSelector", "mrmr", "n_features")
OneRuleSelector = _selector("OneRuleSelector", "one-rule", "n_features")
RelaxMRMRSelector = _selector("RelaxMRMRSelector", "relax-mrmr", "n_features")
ReliefSelector = _selector("ReliefSelector", "relief", "n_features")
RelievedSelector = _selector("RelievedSelector", "relieved", "n_features")
SPFSLARSelector = _selector("SPFSLARSelector", "spfs-lar", "n_features")
VarianceSelector = _selector("VarianceSelector", "variance", "n_features")

# Causal methods.
FastIAMBSelector = _selector("FastIAMBSelector", "fast-iamb")
GSSelector = _selector("GSSelector", "gs")
GSMSelector = _selector("GSMSelector", "gs-m")
HITONMBSelector = _selector("HITONMBSelector", "hiton-mb")
HITONPCSelector = _selector("HITONPCSelector", "hiton-pc")
HSMBSelector = _selector("HSMBSelector", "hsmb")
IAMBSelector = _selector("IAMBSelector", "iamb")
IAMBnPCSelector = _selector("IAMBnPCSelector", "iamb-npc")
InterIAMBSelector = _selector("InterIAMBSelector", "inter-iamb")
InterIAMBnPCSelector = _selector("InterIAMBnPCSelector", "inter-iamb-npc")
IPCMBSelector = _selector("IPCMBSelector", "ipc-mb")
KIAMBSelector = _selector("KIAMBSelector", "kiamb")
KollerSahamiSelector = _selector("KollerSahamiSelector", "koller-sahami", "n_features")
MixedMBSelector = _selector("MixedMBSelector", "mixed-mb")
MMMBSelector = _selector("MMMBSelector", "mmmb")
MMPCSelector = _selector("MMPCSelector", "mmpc")
PCMBSelector = _selector("PCMBSelector", "pcmb")
PCSimpleSelector = _selector("PCSimpleSelector", "pc-simple")
PPFSSelector = _selector("PPFSSelector", "ppfs")
RESSelector = _selector("RESSelector", "res")
RGSMKSelector = _selector("RGSMKSelector", "rgs-mk")
SGAISelector = _selector("SGAISelector", "sgai")
SIHITONPCSelector = _selector("SIHITONPCSelector", "si-hiton-pc")
SRSSelector = _selector("SRSSelector", "srs")
STMBSelector = _selector("STMBSelector", "stmb")
TIEStarSelector = _selector("TIEStarSelector", "tie-star")

# Others.
DCRTSelector = _selector("DCRTSelector", "dcrt")
FCBFSelector = _selector("FCBFSelector", "fcbf")
IPSSSelector = _selector("IPSSSelector", "ipss")
DiscoverSelector = _selector("DiscoverSelector", "discover")
KnockoffsSelector = _selector("KnockoffsSelector", "knockoffs")
PermutationImportanceSelector = _selector("PermutationImportanceSelector", "permutation-importance")
StabilitySelectionSelector = _selector("StabilitySelectionSelector", "stability-selection")
StepwiseSelector = _selector("StepwiseSelector", "stepwise", "max_features")
