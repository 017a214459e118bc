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

    from .all_blankets import Blankets
    from .ci.base import CITest
    from .comparison import Comparison
    from .estimator import MarkovBlanketSelector

__version__ = "0.1.0"


def get_selector(name: str, **parameters: Any) -> MarkovBlanketSelector:
    """Return a scikit-learn selector by method id.

    Parameters
    ----------
    name : str
        Such as ``"ppfs"`` or ``"gs"``, or ``"package.module:Class"`` for a `Method` of your own.
    **parameters
        As `list_selectors` and the class's docstring show them.

    Raises
    ------
    UnknownNameError
        If there is no such method.
    """
    from .core.registry import look_up
    from .estimator import estimator_class

    return estimator_class(look_up("blanketflow.selectors", name, "method"))(**parameters)


def get_ci_test(name: str, **options: Any) -> CITest:
    """Return a configured CI test by id; see `blanketflow.ci.get_ci_test`."""
    from .ci import get_ci_test as get

    return get(name, **options)


def blankets(X: Any, method: Any = "hiton-mb", ci_test: Any = None, **options: Any) -> Blankets:
    """Find the Markov blanket of every column of a table; see `blanketflow.all_blankets.blankets`."""
    from .all_blankets import blankets as find

    return find(X, method, ci_test, **options)


def compare(X: Any, y: Any = None, *arguments: Any, **options: Any) -> Comparison:
    """Compare selectors on one or several tables, without Snakemake; see `blanketflow.comparing.compare`."""
    from .comparing import compare as run

    return run(X, y, *arguments, **options)


def list_selectors() -> pd.DataFrame:
    """Return one row a method: id, class, default test, and its card."""
    from .core.registry import discover

    found = discover("blanketflow.selectors")
    return _cards(found, ci_test=[method.default_test for method in found.values()])


def list_ci_tests() -> pd.DataFrame:
    """Return one row a CI test: id, class, its card, and its options with range and default."""
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


def __getattr__(name: str) -> Any:
    """Return the selector class of a method, such as ``blanketflow.PPFS``."""
    if not name.startswith("_") and name[0].isupper():
        from .estimator import estimator_by_class_name

        found = estimator_by_class_name(name)
        if found is not None:
            return found
    raise AttributeError(f"module 'blanketflow' has no attribute {name!r}")
