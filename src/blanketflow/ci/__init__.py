"""Conditional-independence tests and dependence measures, in one folder per kind, with one interface."""

from __future__ import annotations

from typing import Any

from ..core.errors import ConfigError
from ..core.registry import look_up
from .adapters import for_causal_learn, for_pgmpy, for_tigramite
from .base import BoundTest, CITest
from .rates import error_rates

__all__ = ["BoundTest", "CITest", "error_rates", "for_causal_learn", "for_pgmpy", "for_tigramite", "get_ci_test"]


def get_ci_test(name: str, **options: Any) -> CITest:
    """Return a configured CI test by id.

    Parameters
    ----------
    name : str
        An id such as ``"g2"``, or ``"package.module:Class"`` for your own test, whose module is imported.
    **options
        Options of the test; `blanketflow.list_ci_tests` lists them with their ranges.

    Returns
    -------
    CITest
        The configured test; `bind` binds it to a table.

    Raises
    ------
    UnknownNameError
        If there is no test with this id.
    ParameterError
        If an option is unknown or out of range.
    ConfigError
        If the class cannot be imported or is not a CI test.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.repeat([[0, 0, 1], [1, 1, 1], [0, 0, 0], [1, 1, 0]], 10, axis=0)
    >>> test = get_ci_test("g2", dof="nominal").bind(X)
    >>> test.test("x0", "x1").p_value < 0.05, test.test("x0", "x2").p_value < 0.05
    (True, False)
    """
    test_class = look_up("blanketflow.ci", name, "CI test")
    if not (isinstance(test_class, type) and issubclass(test_class, CITest)):
        raise ConfigError(f"{name!r} is not a CI test: derive it from blanketflow.plugins.CITest.")
    return test_class.from_options(f"CI test {name!r}", options)
