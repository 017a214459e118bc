"""Parameters as data: one declaration serves the check, the message and the schema."""

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest

from blanketflow.core.cards import Card
from blanketflow.core.errors import ConfigError, ParameterError, did_you_mean
from blanketflow.core.parameters import Configurable, Parameter, anything, choice, integer, number

SHARE = Parameter("number", "A share.", above=0, below=1)
COUNT = Parameter("integer", "A count.", at_least=1, at_most=9, nullable=True)
WAY = Parameter("choice", "A way.", choices=("fast", "slow"))


@pytest.mark.parametrize(
    ("parameter", "good", "bad"),
    [
        (SHARE, [0.5, np.float32(0.1), 1e-300], [0, 1, -1, 1.5, True, "0.5", None, float("nan"), float("inf")]),
        (COUNT, [1, 9, np.int64(3), None], [0, 10, 1.0, True, "1", 2.5]),
        (WAY, ["fast"], ["quick", None, 1, ["fast"]]),
        (Parameter("flag", ""), [True, False], [1, 0, "true", None]),
        (Parameter("text", ""), ["", "a"], [1, None]),
        (Parameter("names", ""), [[], ("a",)], ["a", 1, None, {"a": "b"}, [["a"]], [1]]),
        (Parameter("roles", ""), [[], ("a",), {"a": "b"}], ["a", 1, None, {1: "b"}]),
        (Parameter("any", ""), [1, None, "x"], []),
    ],
)
def test_ranges(parameter, good, bad):
    for value in good:
        parameter.check("here", "p", value)
    for value in bad:
        with pytest.raises(ParameterError, match="here: p is "):
            parameter.check("here", "p", value)


@pytest.mark.parametrize(
    ("parameter", "value", "message"),
    [
        (SHARE, 2, "gs: p is 2, but must be a number above 0 and below 1."),
        (COUNT, 0, "gs: p is 0, but must be a whole number at least 1 and at most 9 or null."),
        (WAY, "fats", "gs: p is 'fats', but must be one of fast, slow. Did you mean 'fast'?"),
    ],
)
def test_messages_say_what_is_wanted(parameter, value, message):
    with pytest.raises(ParameterError) as error:
        parameter.check("gs", "p", value)
    assert str(error.value) == message


def test_schemas():
    assert SHARE.schema() == {
        "description": "A share.",
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
    }
    assert COUNT.schema() == {"description": "A count.", "type": ["integer", "null"], "minimum": 1, "maximum": 9}
    assert WAY.schema() == {"description": "A way.", "type": "string", "enum": ["fast", "slow"]}


@pytest.mark.parametrize("parameter", [SHARE, COUNT, WAY], ids=lambda p: p.kind)
def test_the_schema_and_the_check_agree(parameter):
    jsonschema = pytest.importorskip("jsonschema")
    for value in [None, 0, 1, 2, 9, 10, -1, 0.5, 1.5, "fast", "x", True, [], {}]:
        by_schema = jsonschema.Draft202012Validator(parameter.schema()).is_valid(value)
        try:
            parameter.check("", "p", value)
            by_check = True
        except ParameterError:
            by_check = False
        assert by_schema == by_check, value


@dataclass
class Thing(Configurable):
    card: ClassVar[Card] = Card("thing", "Thing", "test", "", "")

    alpha: float = number(0.05, "", above=0, below=1)
    bins: int = integer(5, "", at_least=2)
    way: str = choice("fast", "", ("fast", "slow"))
    model: object = anything("tree", "")
    note: str = "undeclared"


def test_declared_fields_are_the_options():
    assert Thing.defaults() == {"alpha": 0.05, "bins": 5, "way": "fast", "model": "tree"}
    assert Thing(bins=3).options() == {"alpha": 0.05, "bins": 3, "way": "fast", "model": "tree"}


def test_unknown_names_and_bad_values_are_refused_with_the_place():
    with pytest.raises(ParameterError, match=r"test 'a': thing has no option 'alhpa'. Did you mean 'alpha'"):
        Thing.from_options("test 'a'", {"alhpa": 1})
    with pytest.raises(ParameterError, match="test 'a': bins is 1, but must be a whole number at least 2"):
        Thing.from_options("test 'a'", {"bins": 1})
    assert Thing.from_options("", {"bins": 7}).bins == 7
    with pytest.raises(ParameterError, match=r"^Thing: alpha is 3"):
        Thing(alpha=3).check()


def test_a_class_that_was_completed_after_an_error_is_taken():
    @dataclass
    class Late(Configurable):
        bins: int = integer(5, "Bins.", at_least=2)

    with pytest.raises(ConfigError, match=r"here: .*Late lacks card: add them"):
        Late.from_options("here", {})
    Late.card = Thing.card
    assert Late.from_options("here", {"bins": 3}).bins == 3
    with pytest.raises(TypeError, match="does not support item assignment"):
        Late.parameters()["bins"] = SHARE


def test_scikit_learn_reaches_in():
    from sklearn.base import clone

    thing = Thing(model=[1])
    copy = clone(thing, safe=False)
    assert copy == thing
    assert copy is not thing
    assert copy.set_params(bins=9) is copy
    assert (copy.bins, thing.bins) == (9, 5)
    with pytest.raises(ParameterError, match=r"Thing has no option 'bin'. Did you mean 'bins'"):
        thing.set_params(bin=1)


def test_did_you_mean():
    assert did_you_mean("gz2", ["g2", "fisher-z"]) == "Did you mean 'g2'?"
    assert did_you_mean("zzz", ["b", "a"]) == "Known: a, b."
    assert did_you_mean("zzz", map(str, range(100, 140))).endswith("128, 129, ...")
