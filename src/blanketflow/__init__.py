"""blanketflow: Markov-blanket feature selection as a scikit-learn-compatible library and a Snakemake workflow.

Everything is loaded when first asked for, so that importing the package costs next to nothing.

Examples
--------
>>> import blanketflow as bf
>>> from sklearn.datasets import load_iris
>>> X, y = load_iris(return_X_y=True, as_frame=True)
>>> bf.get_selector("mrmr", n_features=2).fit(X, y).get_feature_names_out().tolist()
['petal length (cm)', 'petal width (cm)']
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

    from .api.blankets import blankets as blankets
    from .api.compare import compare as compare
    from .api.estimator import MarkovBlanketSelector
    from .ci import get_ci_test as get_ci_test

__version__ = "0.1.0"


def get_selector(name: str, **parameters: Any) -> MarkovBlanketSelector:
    """Return a scikit-learn selector by method id.

    Parameters
    ----------
    name : str
        Such as ``"ppfs"`` or ``"gs"``, or ``"package.module:Class"`` for a `Method` of your own.
    **parameters
        Options of the method, and those that every selector has; the class's docstring shows them with their ranges.
        They are checked in `fit`.

    Returns
    -------
    MarkovBlanketSelector
        Not yet fitted.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    TypeError
        If the method has no such option.

    Examples
    --------
    >>> get_selector("gs", alpha=0.01)
    GS(alpha=0.01)
    """
    from .api.estimator import estimator_class
    from .core.registry import look_up

    return estimator_class(look_up("blanketflow.selectors", name, "method"))(**parameters)


def list_selectors() -> pd.DataFrame:
    """Return what methods there are.

    Returns
    -------
    DataFrame
        One row a method: id, class, default test (`ci_test`) and its card, with guarantee, cost and reference.

    Examples
    --------
    >>> methods = list_selectors().set_index("id")
    >>> methods.loc["hiton-mb", ["class", "ci_test"]].tolist()
    ['HITONMB', 'g2']
    """
    from .core.registry import discover

    found = discover("blanketflow.selectors")
    return _cards(found, ci_test=[method.default_test for method in found.values()])


def list_ci_tests() -> pd.DataFrame:
    """Return what CI tests there are.

    Returns
    -------
    DataFrame
        One row a test: id, class, its card, and its options with range and default.

    Examples
    --------
    >>> tests = list_ci_tests().set_index("id")
    >>> tests.loc["g2", "options"]["bins"]
    'a whole number at least 2 and at most 10000; 5 by default'
    """
    from .core.registry import discover

    found = discover("blanketflow.ci")
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


#: Functions of other modules: loaded when first asked for, with their own parameters and docstrings.
_ELSEWHERE = {"get_ci_test": ".ci", "blankets": ".api.blankets", "compare": ".api.compare"}


def __getattr__(name: str) -> Any:
    """Return a function that lies elsewhere, or a selector class such as ``PPFS``."""
    if name in _ELSEWHERE:
        from importlib import import_module

        return getattr(import_module(_ELSEWHERE[name], __name__), name)
    if not name.startswith("_") and name[0].isupper():
        from .api.estimator import estimator_by_class_name

        found = estimator_by_class_name(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'blanketflow' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted([*globals(), *_ELSEWHERE])
