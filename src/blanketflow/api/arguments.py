"""Arguments of a selector class from the declarations of its method: names, types, defaults, and the docstring.

`sections` splits a numpydoc docstring into text and sections, and `joined` reverses it.
"""

from __future__ import annotations

import inspect
import json
import re
import textwrap
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..ci.effect import MIN_EFFECT
from ..ci.missing import N_COPIES
from ..core.cards import CLASSIFICATION, REGRESSION, TARGET_KINDS
from ..core.convert import SAMPLE_WEIGHTS
from ..core.errors import did_you_mean
from ..core.parameters import Parameter
from ..core.prior import KEYS
from ..core.registry import look_up
from ..core.rows import CONFIRM, CONFIRM_SPLITS, FOLD_ROWS, MAX_ROWS
from ..selectors.base import Method
from ..selectors.compatibility import takes_min_effect

#: Parameters common to all selectors; `MarkovBlanketSelector` has their defaults.
SHARED: dict[str, Parameter] = {
    "n_folds": Parameter(
        "integer", "Number of inner folds whose blankets are combined; 0 uses all rows once.", at_least=0
    ),
    "fold_rows": Parameter("choice", "Rows of a fold: all but its part, or the part itself.", choices=FOLD_ROWS),
    "aggregate": Parameter(
        "any", 'How folds are combined: "best-blanket", "union", "intersection" or {"frequency": share}.'
    ),
    "task": Parameter("choice", 'What y is; "auto" looks at its values.', choices=("auto", CLASSIFICATION, REGRESSION)),
    "target_kind": Parameter(
        "choice",
        'Kind of the target: classes or numbers as in `task`, or one of its own tests, also ``"module:Class"``. "auto" '
        "takes those of `task`.",
        choices=("auto", *TARGET_KINDS),
        more=tuple,
    ),
    "random_state": Parameter("any", "Seed of all random numbers; None draws a new seed."),
    "time_limit": Parameter(
        "number", "Time limit in seconds for each of grow and shrink on one fold.", above=0, nullable=True
    ),
    "max_tests": Parameter(
        "integer", "Largest number of CI tests for each of grow and shrink on one fold.", at_least=1, nullable=True
    ),
    "max_rows": MAX_ROWS,
    "confirm": CONFIRM,
    "confirm_splits": CONFIRM_SPLITS,
    **KEYS,
    "missing": Parameter(
        "choice",
        "Missing cells of X raise an error, are imputed within the rows of each fold (median or most frequent label), "
        "or their rows are dropped; pairwise: each CI test uses the rows that are complete in its columns.",
        choices=("error", "impute", "drop", "pairwise"),
    ),
    "weights_are": SAMPLE_WEIGHTS,
    "imputations": N_COPIES,
    "n_jobs": Parameter(
        "integer", "Number of parallel folds, at most one per core; -1 uses all cores, None is 1.", nullable=True
    ),
    "verbose": Parameter(
        "integer", "Messages on stderr: 0 none, 1 a line per stage of each fold, 2 also one per step.", at_least=0
    ),
}
#: Types of parameters of kind ``any``, for type checkers and for readers.
_OPEN = {
    "aggregate": ("str | Mapping[str, float]", "str or dict"),
    "budget": ("Mapping[str, int] | None", "dict of str to int"),
    "model": ("Any", "str, dict or estimator"),
    "random_state": ("int | np.random.RandomState | None", "int, RandomState or None"),
    "scoring": ("str | Callable[..., float]", "str or callable"),
}
_TYPES = {
    "number": ("float", "float"),
    "integer": ("int", "int"),
    "flag": ("bool", "bool"),
    "text": ("str", "str"),
    "names": ("Sequence[str]", "list of str"),
    "tiers": ("Sequence[Sequence[str]]", "list of lists of str"),
    "groups": ("Mapping[str, Sequence[str]]", "dict of str to list of str"),
    "costs": ("Mapping[str, float]", "dict of str to float"),
    "roles": ("Sequence[str] | Mapping[str, str]", "list of str, or dict of str to str"),
    "feature-counts": ('int | list[int] | Literal["auto"]', 'int at least 1, list of int, or "auto"'),
}
_ORDER = ("Parameters", "Attributes", "Raises", "Notes", "References", "Examples")


@dataclass(frozen=True)
class Argument:
    """An argument of a selector class; its type is Python code (`annotation`) and text with its range (`words`)."""

    name: str
    annotation: str
    default: Any
    words: str
    doc: str

    def documented(self) -> str:
        """Return the entry in the section Parameters."""
        meaning = textwrap.fill(self.doc, 116, initial_indent="    ", subsequent_indent="    ", break_on_hyphens=False)
        return f"{self.name} : {self.words}, default={code(self.default)}\n{meaning}"


def code(value: Any) -> str:
    """Return a default as Python code, with double quotes.

    >>> code("g2"), code(None), code(0.05)
    ('"g2"', 'None', '0.05')
    """
    return json.dumps(value) if isinstance(value, str) else repr(value)


def own_arguments(method: type[Method]) -> list[Argument]:
    """Return the arguments of a selector class: the CI test, options of the method, and options of the test.

    Options of the CI test default to None; their text names the test's own default.

    >>> from blanketflow.selectors.causal.ppfs import PPFS
    >>> [argument.name for argument in own_arguments(PPFS)]
    ['ci_test', 'alpha', 'correction', 'min_effect', 'n_repeats', 'model', 'test_size', 'significance']
    """
    defaults = method.defaults()
    own = [_argument(name, defaults[name], parameter) for name, parameter in method.parameters().items()]
    if method.default_test is None:
        return own
    what = (
        "Id of a CI test, or a configured test of `get_ci_test`. ``auto`` takes the fastest that is calibrated for the "
        "table's columns and rows."
    )
    if method.default_test_options:
        options = ", ".join(f"{name}={code(value)}" for name, value in method.default_test_options.items())
        what += f" The default is used with {options}."
    test = Argument("ci_test", "str | CITest | None", method.default_test, "str or CITest", what)
    effect = [_argument("min_effect", None, MIN_EFFECT)] if takes_min_effect(method) else []
    return [test, *own, *effect, *_borrowed(method)]


def shared_arguments(defaults: Mapping[str, Any]) -> list[Argument]:
    """Return the arguments that every selector class has."""
    return [_argument(name, defaults[name], parameter) for name, parameter in SHARED.items()]


def _borrowed(method: type[Method]) -> list[Argument]:
    """Return the options of the default CI test that the selector class accepts directly."""
    if not method.test_shorthands:
        return []
    test = look_up("blanketflow.ci", method.default_test, "CI test")
    declared, defaults = test.parameters(), {**test.defaults(), **method.default_test_options}
    found = []
    for name in method.test_shorthands:
        annotation, words = _or_none(*_type(name, declared[name]))
        doc = f"{declared[name].doc} None: the test's own ({code(defaults[name])})."
        found.append(Argument(name, annotation, None, words, doc))
    return found


def _argument(name: str, default: Any, parameter: Parameter) -> Argument:
    annotation, words = _type(name, parameter)
    if parameter.nullable:
        annotation, words = _or_none(annotation, words)
    doc = re.sub(r"\bnull\b", "None", parameter.doc)  # which is how a configuration writes it
    return Argument(name, annotation, default, words, doc)


def _or_none(annotation: str, words: str) -> tuple[str, str]:
    words = words.replace(" or ", ", ") + (", or None" if " at " in words or " above " in words else " or None")
    return annotation if annotation == "Any" else f"{annotation} | None", words


def _type(name: str, parameter: Parameter) -> tuple[str, str]:
    """Return the type of a parameter as Python code, and with its range in words."""
    if parameter.kind == "choice":
        choices = ", ".join(code(choice) for choice in parameter.choices)
        annotation, words = f"Literal[{choices}]", f"{{{choices}}}"
        return (f"{annotation} | str", f"{words} or str") if parameter.more else (annotation, words)
    if parameter.kind == "any":
        return _OPEN.get(name, ("Any", "object"))
    annotation, words = _TYPES[parameter.kind]
    return annotation, f"{words} {parameter.bounds()}".strip()


def docstring(method: type[Method], arguments: Iterable[Argument], attributes: str) -> str:
    """Return the numpydoc docstring of a selector class from its method, arguments, attributes and card."""
    text, parts = sections(method)
    card = method.card
    parts["Parameters"] = "\n".join(argument.documented() for argument in arguments)
    parts["Attributes"] = attributes
    promise = [f"Guarantee: {card.guarantee}."] + ([f"Cost: {card.cost}."] if card.cost else [])
    parts["Notes"] = "\n\n".join([*filter(None, [parts.get("Notes")]), *promise])
    if card.reference != "none":
        parts["References"] = card.reference
    return joined(text, {heading: parts[heading] for heading in _ORDER if heading in parts})


_HEADING = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.MULTILINE)


def sections(documented: object) -> tuple[str, dict[str, str]]:
    """Return the text of an object's docstring before its first section, and its sections by heading in order.

    >>> from blanketflow import get_selector
    >>> list(sections(get_selector)[1])
    ['Parameters', 'Returns', 'Raises', 'Examples']
    """
    text, *rest = _HEADING.split(inspect.getdoc(documented) or "")
    return text.strip(), {heading: body.strip() for heading, body in zip(rest[::2], rest[1::2], strict=True)}


def joined(text: str, parts: Mapping[str, str]) -> str:
    r"""Return the docstring with this text and these sections; the inverse of `sections`.

    >>> joined("Count.", {"Notes": "Slow."})
    'Count.\n\nNotes\n-----\nSlow.'
    """
    return "\n\n".join([text, *(f"{heading}\n{'-' * len(heading)}\n{body}" for heading, body in parts.items())])


def initialiser(class_name: str, arguments: Sequence[Argument]) -> Callable[..., None]:
    """Return the ``__init__`` of a selector class, which stores each argument under its name."""
    defaults = {argument.name: argument.default for argument in arguments}

    def __init__(self: Any, **parameters: Any) -> None:
        for name in parameters:
            if name not in defaults:
                raise TypeError(f"{class_name} has no parameter {name!r}. {did_you_mean(name, defaults)}")
        vars(self).update(defaults | parameters)

    kind = inspect.Parameter.KEYWORD_ONLY
    shown = [inspect.Parameter(a.name, kind, default=a.default, annotation=a.annotation) for a in arguments]
    own = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
    __init__.__signature__ = inspect.Signature([own, *shown], return_annotation=None)
    __init__.__qualname__ = f"{class_name}.__init__"
    return __init__
