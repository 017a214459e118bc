"""Declared parameters of classes, used by the checks in `fit`, the config and the schema."""

from __future__ import annotations

import copyreg
import dataclasses
import math
import numbers
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar

from .cards import Card
from .errors import ConfigError, Faults, ParameterError, closest, correction, did_you_mean, shown


@dataclass(frozen=True)
class Parameter:
    """The declared kind and range of one parameter.

    `kind` is ``number``, ``integer``, ``choice``, ``flag``, ``text``, ``texts``, ``names``, ``text-or-names``,
    ``target`` (text, names, or a mapping), ``tiers`` (lists of names), ``groups`` (names to lists of names), ``costs``
    (names to numbers >= 0), ``size`` (bytes, or text such as 2GB), ``roles`` (names, or a mapping of them),
    ``texts-by-name`` and ``choice-by-name`` (one for all, or a mapping of names), ``feature-counts`` (an integer, a
    list of these, or "auto"), ``row-or-two`` (the number of a row, or a list of two), ``groups-or-gmt`` (groups, or a
    .gmt file of them) or ``any``.
    `at_least` and `at_most` are closed bounds, `above` and `below` open ones. `choices` are the texts of a ``choice``,
    or texts that an ``integer`` also allows. `more` is a function that returns choices of installed packages;
    ``"module:NAME"`` is then allowed too.
    """

    kind: str
    doc: str
    at_least: float | None = None
    at_most: float | None = None
    above: float | None = None
    below: float | None = None
    choices: tuple[str, ...] = ()
    nullable: bool = False
    more: Callable[[], Iterable[str]] | None = None

    def check(self, where: str, name: str, value: Any) -> None:
        """Raise `ParameterError` if `value` is outside the declared range."""
        if value is None and self.nullable:
            return
        if not (self._right_kind(value) and self._within_bounds(value)):
            near = closest(value, self.choices) if isinstance(value, str) else ""
            hint = f" {near}" if near else correction(value, self.kind)
            wanted = replace(self, choices=(*self.choices, *self.more()), more=None) if self.more else self
            raise ParameterError(f"{where}: {name} is {shown(value)}, but must be {wanted.wanted()}.{hint}")

    def _right_kind(self, value: Any) -> bool:
        if self.kind == "number":
            is_number = isinstance(value, numbers.Real) and not isinstance(value, bool)
            return is_number and (isinstance(value, numbers.Integral) or math.isfinite(value))
        if self.kind == "integer":
            is_whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
            return is_whole or (isinstance(value, str) and value in self.choices)
        if self.kind == "choice":
            return isinstance(value, str) and (value in self.choices or self._is_from_outside(value))
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind == "text":
            return isinstance(value, str)
        if self.kind in ("texts", "names", "roles"):
            listed = isinstance(value, Sequence) and not isinstance(value, str | bytes)
            listed |= self.kind == "roles" and isinstance(value, Mapping)
            return listed and all(isinstance(name, str) for name in value)
        if self.kind == "text-or-names":
            return isinstance(value, str) or Parameter("names", "")._right_kind(value)
        if self.kind == "target":
            is_mapping = isinstance(value, Mapping) and all(isinstance(key, str) for key in value)
            return is_mapping or Parameter("text-or-names", "")._right_kind(value)
        if self.kind == "size":
            return size_in_bytes(value) is not None
        if self.kind == "tiers":
            names = Parameter("names", "")
            return isinstance(value, Sequence) and not isinstance(value, str) and all(map(names._right_kind, value))
        if self.kind == "groups":
            names = Parameter("names", "")
            are_named = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
            return are_named and all(map(names._right_kind, value.values()))
        if self.kind == "groups-or-gmt":
            if isinstance(value, Mapping) and isinstance(value.get("gmt"), str):
                return value.keys() <= {"gmt", "sets"} and Parameter("names", "")._right_kind(value.get("sets", []))
            return isinstance(value, str) or Parameter("groups", "")._right_kind(value)
        if self.kind == "texts-by-name":
            return Parameter("groups" if isinstance(value, Mapping) else "texts", "")._right_kind(value)
        if self.kind == "choice-by-name":
            by_name = value if isinstance(value, Mapping) else {"": value}
            return all(isinstance(name, str) for name in by_name) and all(c in self.choices for c in by_name.values())
        if self.kind == "costs":
            are_named = isinstance(value, Mapping) and all(isinstance(name, str) for name in value)
            cost = Parameter("number", "", at_least=0)
            return are_named and all(cost._right_kind(v) and cost._within_bounds(v) for v in value.values())
        if self.kind == "feature-counts":
            return value == "auto" if isinstance(value, str) else _are_feature_counts(value)
        if self.kind == "row-or-two":
            return _are_feature_counts(value) and (not isinstance(value, Sequence) or len(value) == 2)
        return True

    def _is_from_outside(self, value: str) -> bool:
        """Whether a text is a choice of another package, or ``"module:NAME"``."""
        return self.more is not None and (":" in value or value in self.more())

    def _within_bounds(self, value: Any) -> bool:
        return isinstance(value, str) or (
            (self.at_least is None or value >= self.at_least)
            and (self.at_most is None or value <= self.at_most)
            and (self.above is None or value > self.above)
            and (self.below is None or value < self.below)
        )

    def wanted(self) -> str:
        """Return the range in words.

        >>> Parameter("number", "", above=0, below=1).wanted()
        'a number above 0 and below 1'
        """
        names = {
            "number": "a number",
            "integer": "a whole number",
            "flag": "true or false",
            "text": "a text",
            "texts": "a list of texts",
            "names": "a list of names",
            "text-or-names": "a text or a list of names",
            "target": "a text, a list of names, or a mapping such as {time: days, event: died} or {joint: [a, b]}",
            "size": "a size such as 2GB or 500MB, or a number of bytes",
            "tiers": "a list of lists of names",
            "groups": "a mapping of names to lists of names",
            "groups-or-gmt": "a mapping of names to lists of names, a .gmt file, or {gmt: FILE, sets: [NAMES]}",
            "texts-by-name": "a list of texts, or a mapping of names to lists of texts",
            "costs": "a mapping of names to numbers of at least 0",
            "roles": "a list of names, or a mapping of names to roles",
            "feature-counts": 'a whole number of at least 1, a list of different ones, or "auto"',
            "row-or-two": "a whole number of at least 1, or a list of two different ones",
        }
        names["choice-by-name"] = f"one of {', '.join(self.choices)}, or a mapping of names to these"
        names["choice"] = "one of " + ", ".join(self.choices)
        text = f"{names.get(self.kind, 'a valid value')} {self.bounds()}".strip()
        text += f", or {' or '.join(self.choices)}" if self.kind == "integer" and self.choices else ""
        return text + (" or null" if self.nullable else "")

    def bounds(self) -> str:
        """Return the bounds in words, empty if there are none.

        >>> Parameter("integer", "", at_least=1).bounds()
        'at least 1'
        """
        return " and ".join(
            f"{word} {bound if isinstance(bound, int) else f'{bound:g}'}"
            for word, bound in (
                ("above", self.above),
                ("at least", self.at_least),
                ("below", self.below),
                ("at most", self.at_most),
            )
            if bound is not None
        )

    def schema(self) -> dict[str, Any]:
        """Return the JSON schema of the parameter."""
        types = {"number": "number", "integer": "integer", "flag": "boolean", "text": "string", "choice": "string"}
        fragment: dict[str, Any] = {"description": self.doc}
        if self.kind in types:
            fragment["type"] = [types[self.kind], "null"] if self.nullable else types[self.kind]
        if self.kind == "integer" and self.choices:
            whole = replace(self, choices=()).schema()
            return {"description": whole.pop("description"), "anyOf": [whole, {"enum": [*self.choices]}]}
        if self.kind == "size":
            fragment["type"] = ["string", "integer", *(["null"] if self.nullable else [])]
        if self.kind == "text-or-names":
            fragment["type"] = ["string", "array", *(["null"] if self.nullable else [])]
        if self.kind == "target":
            fragment["type"] = ["string", "array", "object", *(["null"] if self.nullable else [])]
        if self.kind == "feature-counts":
            count = {"type": "integer", "minimum": 1}
            counts = {"type": "array", "items": count, "minItems": 1, "uniqueItems": True}
            fragment["anyOf"] = [count, counts, {"const": "auto"}]
        if self.kind == "row-or-two":
            row = {"type": "integer", "minimum": 1}
            rows = {"type": "array", "items": row, "minItems": 2, "maxItems": 2, "uniqueItems": True}
            fragment["anyOf"] = [row, rows, *([{"type": "null"}] if self.nullable else [])]
        if self.kind == "choice-by-name":
            one = {"enum": [*self.choices]}
            by_name = {"type": "object", "additionalProperties": one}
            return fragment | {"anyOf": [one, by_name, *([{"type": "null"}] if self.nullable else [])]}
        if self.choices:
            fragment["enum"] = [*self.choices, None] if self.nullable else list(self.choices)
        if self.more:
            fragment["anyOf"] = [{"enum": fragment.pop("enum")}, {"type": "string"}]  # an editor offers the first
        bounds = {
            "minimum": self.at_least,
            "maximum": self.at_most,
            "exclusiveMinimum": self.above,
            "exclusiveMaximum": self.below,
        }
        return fragment | {key: bound for key, bound in bounds.items() if bound is not None}


def _are_feature_counts(value: Any) -> bool:
    counts = [value] if isinstance(value, numbers.Integral) else value
    if not isinstance(counts, list | tuple) or not counts:
        return False
    are_whole = all(isinstance(count, numbers.Integral) and not isinstance(count, bool) for count in counts)
    return are_whole and min(counts) >= 1 and len(set(counts)) == len(counts)


def _declare(default: Any, parameter: Parameter) -> Any:
    return dataclasses.field(default=default, metadata={"parameter": parameter})


def number(default: float | None, doc: str, **bounds: Any) -> Any:
    """Declare a real-valued parameter of a method, CI test or model.

    Parameters
    ----------
    default : float or None
        The default.
    doc : str
        One sentence with the meaning.
    **bounds
        `at_least`, `at_most`, `above`, `below`, and ``nullable=True`` to allow None.

    Returns
    -------
    object
        A dataclass field.

    Examples
    --------
    >>> @dataclass
    ... class Mine(Configurable):
    ...     alpha: float = number(0.05, "Significance level.", above=0, below=1)
    >>> Mine.parameters()["alpha"].wanted()
    'a number above 0 and below 1'
    """
    return _declare(default, Parameter("number", doc, **bounds))


def integer(default: int | None, doc: str, **bounds: Any) -> Any:
    """Declare an integer parameter.

    Parameters
    ----------
    default : int or None
        The default.
    doc : str
        One sentence with the meaning.
    **bounds
        As for `number`.

    Returns
    -------
    object
        A dataclass field.

    Examples
    --------
    >>> integer(3, "Largest conditioning set.", at_least=0, nullable=True).metadata["parameter"].wanted()
    'a whole number at least 0 or null'
    """
    return _declare(default, Parameter("integer", doc, **bounds))


def choice(default: str, doc: str, choices: tuple[str, ...]) -> Any:
    """Declare a parameter with a few allowed texts.

    Parameters
    ----------
    default : str
        The default, one of the choices.
    doc : str
        One sentence with the meaning.
    choices : tuple of str
        The allowed texts.

    Returns
    -------
    object
        A dataclass field.

    Examples
    --------
    >>> choice("and", "Who is kept.", ("and", "or")).metadata["parameter"].wanted()
    'one of and, or'
    """
    return _declare(default, Parameter("choice", doc, choices=choices))


def feature_counts(default: int, doc: str) -> Any:
    """Declare a number of features to keep: an integer, a list of these, or ``"auto"``.

    Parameters
    ----------
    default : int
        The default.
    doc : str
        One sentence with the meaning.

    Returns
    -------
    object
        A dataclass field.

    Examples
    --------
    >>> feature_counts(10, "Features to keep.").metadata["parameter"].kind
    'feature-counts'
    """
    return _declare(default, Parameter("feature-counts", doc))


def anything(default: Any, doc: str, kind: str = "any") -> Any:
    """Declare a parameter whose values the class checks itself.

    Parameters
    ----------
    default : object
        The default.
    doc : str
        One sentence with the meaning.
    kind : str, default="any"
        Another kind of `Parameter` whose values are checked, such as ``flag``, ``text`` or ``names``.

    Returns
    -------
    object
        A dataclass field.

    Examples
    --------
    >>> anything(False, "Whether to shout.", kind="flag").metadata["parameter"].wanted()
    'true or false'
    """
    return _declare(default, Parameter(kind, doc))


@dataclass
class Configurable:
    """Base class of methods, CI tests and models: a dataclass of declared parameters with a card."""

    card: ClassVar[Card]

    @classmethod
    @cache
    def parameters(cls) -> Mapping[str, Parameter]:
        """Return the declared parameters by name."""
        own = {f.name: f.metadata["parameter"] for f in dataclasses.fields(cls) if "parameter" in f.metadata}
        return MappingProxyType(own)

    @classmethod
    def defaults(cls) -> dict[str, Any]:
        """Return the default value of each parameter."""
        return {f.name: f.default for f in dataclasses.fields(cls) if "parameter" in f.metadata}

    @classmethod
    def from_options(cls, where: str, options: Mapping[str, Any]) -> Configurable:
        """Create an instance.

        Raises `ParameterError`, with `where` at the start of each line, for unknown names and values out of range, and
        `ConfigError` if the class is incomplete.
        """
        cls._check_complete(where)
        known, faults = cls.parameters(), Faults()
        for name in [name for name in options if name not in known]:
            reason = getattr(cls, f"why_no_{name}", "")
            why = f"{name}: {reason}. Leave it out." if reason else f"option {shown(name)}. {did_you_mean(name, known)}"
            faults.note(ParameterError(f"{where}: {cls.card.id} has no {why}"))
        if faults:
            for name in [name for name in options if name in known]:
                with faults.noted():
                    known[name].check(where, name, options[name])
        faults.refuse()
        instance = cls(**options)
        instance.check(where)
        return instance

    @classmethod
    @cache
    def _check_complete(cls, where: str) -> None:
        """Raise `ConfigError` if the class lacks a card or a function."""
        missing = [name for name in dir(cls) if getattr(getattr(cls, name), "__isabstractmethod__", False)]
        missing += [] if isinstance(getattr(cls, "card", None), Card) else ["card"]
        if missing:
            raise ConfigError(f"{where}: {cls.__module__}:{cls.__qualname__} lacks {' and '.join(missing)}: add them.")

    def check(self, where: str | None = None) -> None:
        """Raise `ParameterError` for values out of range."""
        faults = Faults()
        for name, parameter in self.parameters().items():
            with faults.noted():
                parameter.check(where or type(self).__name__, name, getattr(self, name))
        faults.refuse()

    def options(self) -> dict[str, Any]:
        """Return the value of every parameter."""
        return {name: getattr(self, name) for name in self.parameters()}

    def __reduce__(self) -> Any:
        """Pickle by id, so that later versions can move the class to another file."""
        package = type(self).__module__.split(".")[:2]
        if package[0] != __package__.partition(".")[0] or "card" not in vars(type(self)):
            return copyreg.__newobj__, (type(self),), self.__dict__
        return _of_id, (".".join(package), self.card.id), self.__dict__

    # scikit-learn's clone and grid search need these two for nested objects.
    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """Return the parameters, as in scikit-learn."""
        return self.options()

    def set_params(self, **options: Any) -> Configurable:
        """Set parameters in place, as in scikit-learn."""
        known = self.parameters()
        for name, value in options.items():
            if name not in known:
                raise ParameterError(f"{type(self).__name__} has no option {name!r}. {did_you_mean(name, known)}")
            setattr(self, name, value)
        return self


def _of_id(package: str, identifier: str) -> Any:
    """Return an instance of the class with an id, without parameters."""
    from .registry import look_up

    found = look_up(package, identifier, "class")
    return found.__new__(found)


#: Pattern of sizes, and bytes of the units, decimal as for disks and `BLANKETFLOW_MAX_GB`.
_SIZE = re.compile(r"(\d+(?:\.\d+)?) ?(B|KB|MB|GB|TB|)", re.IGNORECASE)
_UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12}


def size_in_bytes(said: Any) -> int | None:
    """Return a size given in bytes or as text with a unit; None if it is neither, or 0.

    >>> size_in_bytes("2GB"), size_in_bytes("1.5 mb"), size_in_bytes(8)
    (2000000000, 1500000, 8)
    >>> size_in_bytes("much"), size_in_bytes(-1), size_in_bytes(0.5), size_in_bytes(True)
    (None, None, None, None)
    """
    if not isinstance(said, str | int) or isinstance(said, bool):
        return None
    found = _SIZE.fullmatch(str(said).strip())
    return int(float(found[1]) * _UNITS[found[2].upper()]) or None if found else None
