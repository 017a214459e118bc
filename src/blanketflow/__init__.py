"""blanketflow: Markov-blanket feature selection as a scikit-learn-compatible library and a Snakemake workflow.

Everything is loaded when first asked for, so that importing the package costs next to nothing.

Examples
--------
>>> import blanketflow as bf
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> bf.MRMR(n_features=2).fit(X, y).get_feature_names_out().tolist()
['petal length (cm)', 'petal width (cm)']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from . import ci
    from .api.blankets import blankets
    from .api.compare import compare
    from .api.discover import discover
    from .api.estimator import MarkovBlanketSelector
    from .api.get_selector import get_selector
    from .api.read_gmt import read_gmt
    from .api.read_search import read_search
    from .api.read_table import read_table
    from .api.sample_curve import sample_curve
    from .api.select import select
    from .api.selectors import *
    from .api.statistics import agree, count, fit_statistics, merge, pack
    from .ci import get_ci_test
    from .search.search import Search

__version__ = "0.1.0"
# fmt: off
__all__ = ["BAHSIC", "CIFE", "CMIM", "DCRT", "DISR", "FCBF", "GS", "GSM", "HITONMB", "HITONPC", "HSMB", "IAMB", "IPCMB",
    "IPSS", "JMI", "KIAMB", "MIFS", "MIM", "MIMR", "MMMB", "MMPC", "MRI", "MRMR", "PCMB", "PPFS", "RES", "RGSMK",
    "SGAI", "SIHITONPC", "SPFSLAR", "SRS", "STMB", "All", "Auto", "Discover", "FastIAMB", "FisherMarkov", "IAMBnPC",
    "InformativeFragments", "InterIAMB", "InterIAMBnPC", "Knockoffs", "KollerSahami", "MarkovBlanketSelector",
    "MixedMB", "NoFeatures", "OneRule", "PCSimple", "PermutationImportance", "RelaxMRMR", "Relief", "Relieved",
    "Search", "StabilitySelection", "Stepwise", "TIEStar", "TrueBlanket", "Variance", "agree", "blankets", "ci",
    "compare", "count", "discover", "fit_statistics", "get_ci_test", "get_selector", "list_ci_tests", "list_selectors",
    "merge", "pack", "read_gmt", "read_search", "read_table", "sample_curve", "select"]
# fmt: on
#: Where names lie that are loaded when first asked for; the selector classes lie in `api.selectors`.
_ELSEWHERE = {
    "MarkovBlanketSelector": ".api.estimator",
    "agree": ".api.statistics",
    "blankets": ".api.blankets",
    "ci": ".ci",
    "compare": ".api.compare",
    "count": ".api.statistics",
    "discover": ".api.discover",
    "fit_statistics": ".api.statistics",
    "get_ci_test": ".ci",
    "get_selector": ".api.get_selector",
    "merge": ".api.statistics",
    "pack": ".api.statistics",
    "Search": ".search.search",
    "read_gmt": ".api.read_gmt",
    "read_search": ".api.read_search",
    "read_table": ".api.read_table",
    "sample_curve": ".api.sample_curve",
    "select": ".api.select",
}


def list_selectors() -> pd.DataFrame:
    """Return which methods there are.

    Returns
    -------
    DataFrame
        One row per method: id, class, default test (`ci_test`) and its card, with guarantee, cost and reference.

    Examples
    --------
    >>> methods = list_selectors().set_index("id")
    >>> methods.loc["hiton-mb", ["class", "ci_test"]].tolist()
    ['HITONMB', 'auto']
    """
    from .core import registry

    found = registry.discover("blanketflow.selectors")
    return _cards(found, ci_test=[method.default_test for method in found.values()])


def list_ci_tests() -> pd.DataFrame:
    """Return which CI tests there are.

    Returns
    -------
    DataFrame
        One row per test: id, class, its card, and its options with range and default.

    Examples
    --------
    >>> tests = list_ci_tests().set_index("id")
    >>> tests.loc["g2", "options"]["bins"]
    'a whole number at least 2 and at most 10000; 5 by default'
    """
    from .core import registry

    found = registry.discover("blanketflow.ci")
    return _cards(found, options=[_options(test) for test in found.values()])


def _options(configurable: Any) -> dict[str, str]:
    defaults = configurable.defaults()
    return {name: f"{p.wanted()}; {defaults[name]!r} by default" for name, p in configurable.parameters().items()}


def _cards(found: Any, **more: Any) -> pd.DataFrame:
    from dataclasses import asdict

    import pandas as pd

    frame = pd.DataFrame([asdict(cls.card) for cls in found.values()])
    frame.insert(1, "class", [cls.__name__ for cls in found.values()])
    return frame.assign(**more)


if not TYPE_CHECKING:  # else a checker would let every name pass

    def __getattr__(name: str) -> Any:
        """Return what lies elsewhere."""
        if name not in __all__:
            raise AttributeError(f"module 'blanketflow' has no attribute {name!r}")
        from importlib import import_module

        module = import_module(_ELSEWHERE.get(name, ".api.selectors"), __name__)
        return module if module.__name__ == f"{__name__}.{name}" else getattr(module, name)


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
