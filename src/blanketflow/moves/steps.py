"""Steps of a search: the record of admissions and removals, decisions on test results, and time tiers."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from operator import attrgetter
from typing import Any, overload

import numpy as np

from ..ci.base import BoundTest
from ..core.numerics import comparable, comparable_number
from ..core.results import CIResult, CIResults, StandIn

#: Roles of a feature in a blanket.
PARENT_OR_CHILD, SPOUSE, MEMBER = "parent_or_child", "spouse", "member"
#: Roles of a parent or child if time tiers tell which.
PARENT, CHILD = "parent", "child"
#: The role of a feature that is in an answer because it was requested.
INCLUDED = "included"
#: Most members of a set for which the conditioning sets of tests given all others are stored.
MOST_LISTED = 500


@dataclass(frozen=True)
class Step:
    """One decision about one feature.

    Attributes
    ----------
    feature : str
        Name of the feature.
    statistic, p_value : float
        Result of the test that decided.
    importance : float
        Larger is more important; comparable only within one selector.
    given : tuple of str or None
        The conditioning set of that test. None means all other members at that time, if these are at least
        `MOST_LISTED`, since storing them each time would take too much space.
    role : str
        ``parent_or_child``, or ``parent`` or ``child`` if tiers tell which; ``spouse``, ``member`` (of the blanket,
        role unknown), or ``included`` (requested, not found).
    kept : bool
        False for a removal.
    group : str
        Name of the feature's group, if the method forms groups.
    stand_ins : tuple of StandIn
        For a kept feature, the features that retain most of its information; the largest share first.

    Examples
    --------
    >>> Step("age", p_value=0.001, importance=6.9, given=("sex",)).listed
    ['sex']
    """

    feature: str
    statistic: float = 0.0
    p_value: float = 1.0
    importance: float = 0.0
    given: tuple[str, ...] | None = ()
    role: str = MEMBER
    kept: bool = True
    group: str = ""
    stand_ins: tuple[StandIn, ...] = ()

    @property
    def listed(self) -> list[str] | None:
        """The conditioning set as stored in artefacts and frames."""
        return None if self.given is None else list(self.given)


#: The fields of a step, and all of them as a tuple.
FIELDS = {field.name: field.default for field in fields(Step)}
_as_tuple = attrgetter(*FIELDS)
_TYPES = {"statistic": np.float64, "p_value": np.float64, "importance": np.float64, "kept": np.bool_}


class Steps(Sequence[Step]):
    """Steps as columns: an array, (n,), for each field of `Step`. A `Step` is made only when one is accessed.

    Arguments other than arrays hold for all steps.

    Examples
    --------
    >>> steps = Steps(["age", "sex"], statistic=np.array([3.0, 1.0]), role=SPOUSE)
    >>> steps == [Step("age", 3.0, role=SPOUSE), Step("sex", 1.0, role=SPOUSE)]
    True
    >>> [step.feature for step in steps[steps.statistic > 2]]
    ['age']
    """

    feature: np.ndarray
    statistic: np.ndarray
    p_value: np.ndarray
    importance: np.ndarray
    given: np.ndarray
    role: np.ndarray
    kept: np.ndarray
    group: np.ndarray
    stand_ins: np.ndarray

    def __init__(self, feature: Sequence[str] | np.ndarray, **columns: Any) -> None:
        n = len(feature)
        self.feature = feature if isinstance(feature, np.ndarray) else objects(feature)
        for name, default in FIELDS.items():
            if name != "feature":
                values = columns.get(name, default)
                if not isinstance(values, np.ndarray):
                    constant, values = values, np.empty(n, dtype=_TYPES.get(name, np.object_))
                    values.fill(constant)
                setattr(self, name, values)

    @classmethod
    def of(cls, parts: Iterable[Step | Steps]) -> Steps:
        """Join steps and blocks of steps."""
        if isinstance(parts, Steps):
            return parts
        blocks: list[Steps] = []
        single: list[Step] = []
        for part in parts:
            if isinstance(part, Steps):
                blocks += [cls._of_single(single), part] if single else [part]
                single = []
            else:
                single.append(part)
        if not blocks:
            return cls._of_single(single)
        blocks += [cls._of_single(single)] if single else []
        return (
            blocks[0]
            if len(blocks) == 1
            else cls(**{name: np.concatenate([getattr(block, name) for block in blocks]) for name in FIELDS})
        )

    @classmethod
    def _of_single(cls, steps: Sequence[Step]) -> Steps:
        n, columns = len(steps), zip(*map(_as_tuple, steps), strict=True) if steps else [()] * len(FIELDS)
        arrays = {
            name: np.fromiter(column, dtype=_TYPES.get(name, np.object_), count=n)
            for name, column in zip(FIELDS, columns, strict=True)
        }
        return cls(**arrays)

    def with_columns(self, **columns: np.ndarray) -> Steps:
        """Return the steps with other arrays for some fields."""
        return Steps(**{name: columns.get(name, getattr(self, name)) for name in FIELDS})

    @property
    def listed(self) -> list[list[str] | None]:
        """The conditioning sets as stored in artefacts and frames."""
        return [None if given is None else list(given) for given in self.given.tolist()]

    def __len__(self) -> int:
        return len(self.feature)

    @overload
    def __getitem__(self, at: int) -> Step: ...
    @overload
    def __getitem__(self, at: slice | np.ndarray) -> Steps: ...
    def __getitem__(self, at: int | slice | np.ndarray) -> Step | Steps:
        if isinstance(at, slice | np.ndarray):
            return Steps(**{name: getattr(self, name)[at] for name in FIELDS})
        return Step(*(getattr(self, name).item(at) for name in FIELDS))

    def __iter__(self) -> Iterator[Step]:
        return map(Step, *(getattr(self, name).tolist() for name in FIELDS))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Steps | list) and list(self) == list(other)

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return f"Steps({list(self)})"


def objects(values: Sequence[Any]) -> np.ndarray:
    """Return values as an array of objects, (n,), whatever they are."""
    return np.fromiter(values, dtype=np.object_, count=len(values))


@dataclass(frozen=True)
class Answer:
    """One of several Markov blankets found by a method.

    Attributes
    ----------
    features : tuple of str
        The features, most important first.
    count : int
        How often the blanket was found.
    """

    features: tuple[str, ...]
    count: int = 1


def standing(steps: Iterable[Step | Steps]) -> Steps:
    """Return the admissions without a later removal, in the order of admission.

    >>> [s.feature for s in standing([Step("a"), Step("b"), Step("a", kept=False), Step("c")])]
    ['b', 'c']
    """
    steps, members = Steps.of(steps), {}
    for at, (feature, kept) in enumerate(zip(steps.feature.tolist(), steps.kept.tolist(), strict=True)):
        members.pop(feature, None)
        if kept:
            members[feature] = at
    return steps if len(members) == len(steps) else steps[np.fromiter(members.values(), np.int64, len(members))]


def step(
    feature: str,
    result: CIResult,
    given: Iterable[str] = (),
    *,
    importance: float | None = None,
    kept: bool = True,
    role: str = MEMBER,
) -> Step:
    """Return the step decided by a test result; the default importance is log(1/p)."""
    # log 0 is minus infinity, which is replaced by a large finite number.
    own = -max(result.log_p, -1e300)
    importance = own if importance is None else importance
    return Step(feature, result.statistic, result.p_value, importance, tuple(given), role, kept)


def strongest_first(results: CIResults) -> np.ndarray:
    """Return candidate positions ordered by log p, then statistic per degree of freedom, then column order.

    Both are rounded in their last bits, so that float noise does not order equivalent columns.

    Examples
    --------
    >>> import numpy as np
    >>> one = np.ones(3)
    >>> p = np.array([0.5, 0.01, 0.5])
    >>> strongest_first(CIResults(np.array([1.0, 9.0, 2.0]), p, np.log(p), one, one, one)).tolist()
    [1, 2, 0]
    """
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return np.lexsort((np.arange(len(results)), -per_dof, comparable(results.log_p)))


def is_dependent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result admits a feature: p <= alpha, and the result is not undecided."""
    return result.log_p <= math.log(alpha) and counts(test, result)


def first_dependent(test: BoundTest, results: CIResults, alpha: float) -> int | None:
    """Return the position of the first result that admits a feature, None if none does."""
    return next(all_dependent(test, results, alpha), None)


def all_dependent(test: BoundTest, results: CIResults, alpha: float) -> Iterator[int]:
    """Yield the positions of the results that admit a feature."""
    limit = math.log(alpha)
    for i, log_p in enumerate(results.log_p.tolist()):
        if log_p <= limit and counts(test, results[i]):
            yield i


def is_independent(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature: p > alpha, and the result is not undecided."""
    return result.log_p > math.log(alpha) and counts(test, result)


def separates(test: BoundTest, result: CIResult, alpha: float) -> bool:
    """Return whether a result removes a feature in a search over many conditioning sets.

    Like `is_independent`, but unreliable results of tests with ``unreliable: auto`` do not count: such a search sooner
    or later reaches a set with too few rows, and would remove every feature.
    """
    return is_independent(test, result, alpha) and (result.reliable or test.unreliable != "auto")


def decisions(test: BoundTest, results: CIResults, alpha: float) -> tuple[np.ndarray, np.ndarray]:
    """Return `is_dependent` and `separates` of many results, each of shape (m,)."""
    is_small = results.log_p <= math.log(alpha)
    is_dependent = is_small & results.reliable if test.unreliable == "undecided" else is_small
    return is_dependent, ~is_small & results.reliable if test.unreliable in ("auto", "undecided") else ~is_small


def strengths_of(results: CIResults) -> list[tuple[float, float]]:
    """Return `strength_of` of many results."""
    per_dof = comparable(np.abs(results.statistic) / np.maximum(results.dof, 1.0))
    return [*zip((-comparable(results.log_p)).tolist(), per_dof.tolist(), strict=True)]


def strength_of(result: CIResult) -> tuple[float, float]:
    """Return the key for comparing dependences, larger for stronger: -log p, then statistic per degree of freedom.

    Both are rounded in their last bits, so that float noise does not decide.
    """
    per_dof = abs(result.statistic) / max(result.dof, 1.0)
    return -comparable_number(result.log_p), comparable_number(per_dof)


def counts(test: BoundTest, result: CIResult) -> bool:
    """Return whether a result decides anything; false if it is unreliable and such results are undecided."""
    return result.reliable or test.unreliable != "undecided"


#: The tier of each column with one, the earliest 0.
Tiers = Mapping[str, int]
#: No tiers.
NO_TIERS: Tiers = {}


def may_separate(given: Iterable[str], x: str, y: str, tiers: Tiers) -> bool:
    """Return whether a set can separate two columns: not if one of its columns is later than both.

    Two columns that are no neighbours are separated by the parents of one, none of which is later.

    >>> tiers = {"smoking": 0, "cancer": 1, "cough": 2}
    >>> may_separate(["cough"], "smoking", "cancer", tiers), may_separate(["cancer"], "smoking", "cough", tiers)
    (False, True)
    """
    if x not in tiers or y not in tiers:
        return True
    last = max(tiers[x], tiers[y])
    return all(tiers.get(z, last) <= last for z in given)


def may_be_child(child: str, parent: str, tiers: Tiers) -> bool:
    """Return whether a column can be the child of another; false if it is earlier."""
    return child not in tiers or parent not in tiers or tiers[child] >= tiers[parent]


def role_by_time(feature: str, role: str, target: str, tiers: Tiers) -> str:
    """Return the role of a feature: ``parent`` or ``child`` of a neighbour that is earlier or later than the target.

    >>> role_by_time("smoking", "parent_or_child", "cancer", {"smoking": 0, "cancer": 1})
    'parent'
    """
    if role != PARENT_OR_CHILD or feature not in tiers or target not in tiers or tiers[feature] == tiers[target]:
        return role
    return PARENT if tiers[feature] < tiers[target] else CHILD
