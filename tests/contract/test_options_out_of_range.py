"""Every declared option of every method, CI test and model refuses what is out of its range, by its name."""

import math

import numpy as np
import pytest

import blanketflow as bf
from blanketflow.api.arguments import SHARED
from blanketflow.core.errors import BlanketflowError, ParameterError
from blanketflow.core.registry import discover

X, Y = np.random.default_rng(0).normal(size=(30, 3)), np.arange(30) % 2
#: For each kind of option values that none takes.
NEVER = {
    "number": ["high", True, math.nan, math.inf, [0.5], {}],
    "integer": ["ten", True, 2.5, math.nan, [2]],
    "choice": ["nonsense", 5, True, ["nonsense"]],
    "flag": [1, "true", None],
    "text": [5, True],
    "names": ["a", 5, None, [["a"]]],
    "roles": ["a", 5, None, [["a"]], {"a": "cousin"}],
    "feature-counts": [0, -1, 2.0, True, "all", [], [1, 1], [0], ["2"], None],
}


def out_of_range(parameter):
    """Values that are none of its kind, and those just beyond its bounds."""
    step = 1 if parameter.kind == "integer" else 1e-9
    beyond = [parameter.above, parameter.below]
    beyond += [] if parameter.at_least is None else [parameter.at_least - step]
    beyond += [] if parameter.at_most is None else [parameter.at_most + step]
    never = [*NEVER.get(parameter.kind, ()), *(bound for bound in beyond if bound is not None)]
    return never + ([] if parameter.nullable or parameter.kind == "any" else [None])


def options(package):
    return [
        pytest.param(identifier, name, parameter, id=f"{identifier}-{name}")
        for identifier, found in discover(f"blanketflow.{package}").items()
        for name, parameter in found.parameters().items()
    ]


@pytest.mark.parametrize(("method", "name", "parameter"), options("selectors"))
def test_a_method_names_itself_and_the_option(method, name, parameter):
    for value in out_of_range(parameter):
        selector = bf.get_selector(method).set_params(**{name: value})
        assert selector.get_params()[name] is value  # as scikit-learn has it: nothing is checked before fit
        with pytest.raises(ParameterError, match=f"^{type(selector).__name__}: .*{name} ") as caught:
            selector.fit(X, Y)
        assert str(caught.value).isprintable()


@pytest.mark.parametrize("name", SHARED)
def test_options_that_all_methods_share(name):
    none = {"names": [{}], "tiers": [{}], "groups": [[]], "costs": [[]]}  # no names are some
    nothing = none.get(SHARED[name].kind, [[], {}])
    for value in (-1.5, math.nan, "nonsense", *nothing):
        with pytest.raises(BlanketflowError, match=name):
            bf.get_selector("gs", **{name: value}).fit(X, Y)


@pytest.mark.parametrize(("test", "name", "parameter"), options("ci"))
def test_a_ci_test_names_itself_and_the_option(test, name, parameter):
    for value in out_of_range(parameter):
        with pytest.raises(ParameterError, match=f"^CI test '{test}': {name} is "):
            bf.get_ci_test(test, **{name: value})


@pytest.mark.parametrize(("model", "name", "parameter"), options("models"))
def test_a_model_names_itself_and_the_option(model, name, parameter):
    from blanketflow.models import get_model

    for value in out_of_range(parameter):
        with pytest.raises(ParameterError, match=f"^model '{model}': {name} is "):
            get_model({"type": model, name: value})
