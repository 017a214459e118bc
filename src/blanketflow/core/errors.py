"""Errors of blanketflow. Messages name the data set, the column or key, and a remedy."""

from __future__ import annotations

import datetime
import difflib
import math
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from .printable import printable, redacted_text

#: Longer values are cut in messages.
_MOST = 80


class BlanketflowError(Exception):
    r"""Base class of all errors that blanketflow raises on purpose.

    The message is one line that is safe to print, whatever it quotes. URLs in it have no passwords or tokens.

    Examples
    --------
    >>> print(BlanketflowError("column 'a\nb' holds text"))
    column 'a\nb' holds text
    """

    def __str__(self) -> str:
        return printable(redacted_text(Exception.__str__(self)))  # KeyError, a base of one of these, would print a repr

    @property
    def lines(self) -> list[str]:
        """One line for each fault."""
        return [str(self)]


class ConfigError(BlanketflowError, ValueError):
    """A key or value of the configuration is wrong."""


class DataError(BlanketflowError, ValueError):
    """A table cannot be read, or does not support the request."""


class MemberNeeded(ConfigError, DataError):
    """A file holds several tables, or none that is plain, and the key `member` must name one."""


class ArtefactError(DataError):
    """A file of a run is missing, damaged, or not what its name says."""


class ForeignArtefactError(ArtefactError):
    """A file in the output folder of a run was written by another program."""


class EarlierArtefactError(ArtefactError):
    """A file of a run was written by an earlier version of blanketflow that did not record its inputs."""


class ParameterError(BlanketflowError, ValueError):
    """A parameter of a method, test or model is out of its declared range."""


class SeveralErrors(ConfigError, DataError, ParameterError):
    r"""Several faults of a configuration or of parameters.

    Parameters
    ----------
    *errors : BlanketflowError
        One for each fault.

    Examples
    --------
    >>> print(SeveralErrors(ConfigError("unknown key 'fold'"), DataError("there is no file a\nb.csv")))
    unknown key 'fold'
    there is no file a\nb.csv
    """

    def __str__(self) -> str:
        return "\n".join(self.lines)

    @property
    def lines(self) -> list[str]:
        """One line for each fault."""
        return list(dict.fromkeys(line for error in self.args for line in error.lines))


class Faults:
    """Collects errors and raises them together.

    Examples
    --------
    >>> faults = Faults()
    >>> with faults.noted():
    ...     raise ConfigError("unknown key 'fold'")
    >>> with faults.noted():
    ...     raise ConfigError("seed is -1")
    >>> try:
    ...     faults.refuse()
    ... except ConfigError as error:
    ...     print(error)
    unknown key 'fold'
    seed is -1
    """

    def __init__(self) -> None:
        self._found: list[BlanketflowError] = []

    def __bool__(self) -> bool:
        return bool(self._found)

    def note(self, error: BlanketflowError) -> None:
        """Note an error."""
        self._found.append(error)

    @contextmanager
    def noted(self) -> Iterator[None]:
        """Note an error that is raised inside, and continue."""
        try:
            yield
        except BlanketflowError as error:
            self.note(error)

    def refuse(self) -> None:
        """Raise the noted errors, several as `SeveralErrors`."""
        if self._found:
            raise self._found[0] if len(self._found) == 1 else SeveralErrors(*self._found)


class StorageError(BlanketflowError):
    """A file or folder cannot be written."""


class UnsupportedError(BlanketflowError, ValueError):
    """A test or method does not support this kind of column or task."""


class RowsNeeded(UnsupportedError):
    """A search needs rows, but only counts or sums of products are available."""


class WrongAnswerError(BlanketflowError):
    """A method, test or model returned an invalid result, which the message names."""


class UnknownNameError(BlanketflowError, KeyError, ValueError):
    """No method, test, model or column has this name."""


class UnreliableWarning(UserWarning):
    """The result of a search is uncertain: its status is ``unreliable``, and `reason_` says why."""


class NumbersAsTextWarning(UserWarning):
    """A text column seems to hold numbers, but is read as labels."""


class SuspectedCellsWarning(UserWarning):
    """Cells may be missing, or are below or above detection, but are read as values."""


class SimilarLabelsWarning(UserWarning):
    """Labels look alike but consist of different characters, and are treated as different."""


class ReadingWarning(UserWarning):
    """Something was found out about how a table's file is written, and changes what is read."""


class RowOrderWarning(UserWarning):
    """Features and target have the same row labels in different orders; rows are matched by position."""


class DependentRowsWarning(UserWarning):
    """A test treats grouped rows as independent; its p-values may be too small."""


def as_config_error(error: BlanketflowError, where: str = "") -> ConfigError:
    """Return an error as a `ConfigError`, with the place at the start of each line.

    >>> print(as_config_error(ParameterError("alpha is 2"), "config: selector 'gs'"))
    config: selector 'gs': alpha is 2
    """
    lines = [line if line.startswith(where) else f"{where}: {line}" for line in error.lines]
    return ConfigError(lines[0]) if len(lines) == 1 else SeveralErrors(*map(ConfigError, lines))


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the closest known names, or all names if none is close.

    >>> did_you_mean("fisherz", ["g2", "fisher-z"])
    "Did you mean 'fisher-z'?"
    >>> did_you_mean("x", ["g2", "fisher-z"])
    'Known: fisher-z, g2.'
    >>> did_you_mean("x", [])
    'There is none.'
    """
    known = sorted(str(k) for k in known)
    listed = "Known: " + ", ".join(known[:30]) + (", ..." if len(known) > 30 else ".")
    return closest(name, known) or (listed if known else "There is none.")


def closest(name: str, known: Iterable[str]) -> str:
    """Return a sentence with the closest known names, empty if none is close.

    Names that differ in case, blanks and signs between words only are offered alone.

    >>> closest("Y", ["x", "y"]), closest("Max K", ["max_k", "max_rows"]), closest("AGES", ["age", "sex"])
    ("Did you mean 'y'?", "Did you mean 'max_k'?", "Did you mean 'age'?")
    """
    # Comparing takes the product of the lengths, and a very long name is not a typing error.
    asked, names = str(name)[:200], sorted(str(k) for k in known)
    close = [one for one in names if _folded(one) == _folded(asked)][:2]
    close = close or difflib.get_close_matches(asked, names, n=2, cutoff=0.6)
    if not close:
        in_small = {one.casefold(): one for one in reversed(names)}
        close = [in_small[one] for one in difflib.get_close_matches(asked.casefold(), in_small, n=2, cutoff=0.75)]
    return "Did you mean " + " or ".join(repr(c) for c in close) + "?" if close else ""


def _folded(name: str) -> str:
    """Return a name without case, and without blanks and signs between its words."""
    return "".join(c for c in name.casefold() if c.isalnum()) or name


def shown(value: Any) -> str:
    """Return a value as written in a configuration, truncated if long.

    >>> shown(None), shown(True), shown("a"), shown(datetime.date(2024, 1, 1))
    ('null', 'true', "'a'", 'the date 2024-01-01')
    >>> len(shown("a" * 1000))
    83
    """
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, datetime.date):
        return f"the date {value}"
    text = printable(redacted_text(repr(value)))  # before it is cut: half a secret would not be recognised
    return text if len(text) <= _MOST else text[:_MOST] + "..."


def correction(value: Any, kind: str) -> str:
    """Return a blank and how to write `value` as a `Parameter` of `kind`; empty if that is not clear.

    >>> correction("1e-3", "number"), correction("0,05", "number")
    (' Write 0.001, without quotes.', ' Write 0.05, without quotes.')
    >>> correction(3.0, "integer"), correction("ten", "integer")
    (' Write 3.', '')
    >>> correction(False, "text")
    ' If it is a name, put it in quotes.'
    >>> correction("true", "flag")
    ' Write true without quotes, and behind --config True.'
    """
    if kind in ("number", "integer") and isinstance(value, str):
        number = _number(value)
        if number is not None and (kind == "number" or number.is_integer()):
            return f" Write {_written(number)}, without quotes."
    if kind == "integer" and isinstance(value, float) and value.is_integer():
        return f" Write {int(value)}."
    if kind == "flag" and str(value).lower() in ("true", "false"):  # of the command line Snakemake reads only True
        return f" Write {value.lower()} without quotes, and behind --config {value.capitalize()}."
    if kind in ("text", "text-or-names", "target", "choice") and isinstance(value, bool | int | float | datetime.date):
        return " If it is a name, put it in quotes."
    if kind == "groups" and ".gmt" in str(value):
        return (
            " A .gmt file is a key of the data set, as in --data-set feature_groups=sets.gmt; in Python, read it by "
            "bf.read_gmt(PATH, X.columns)."
        )
    if kind == "texts":
        held = value if isinstance(value, list) and value else ["NA"]
        return f" Put each text in quotes, such as [{', '.join(_quoted(one) for one in held[:3])}]."
    return ""


def _quoted(value: Any) -> str:
    """Return a value in quotes as YAML requires; unquoted ``?`` has another meaning."""
    return '"?"' if isinstance(value, dict) else f'"{printable("null" if value is None else str(value))}"'


def _number(text: str) -> float | None:
    try:
        number = float(text.strip().replace(",", "."))
    except ValueError:
        return None
    return number if math.isfinite(number) else None


def _written(number: float) -> str:
    """Return a number as YAML reads it: with a point before an exponent."""
    text = str(int(number)) if number.is_integer() and abs(number) < 1e15 else repr(number)
    return text.replace("e", ".0e") if "e" in text and "." not in text else text
