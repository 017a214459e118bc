"""The blankets of several columns of one table, and the graph that they form."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from ..core.errors import ParameterError
from ..moves.steps import PARENT_OR_CHILD, SPOUSE, Step

if TYPE_CHECKING:
    import pandas as pd


@dataclass(repr=False)
class Blankets:
    """The blankets that `blankets` found.

    Attributes
    ----------
    found : dict of str to list of Step
        For each target the members of its blanket, most important first, each with role and test. Targets whose search
        failed at a limit are not in it.
    statuses : dict of str to (str, str)
        Status and reason of each target: ``ok``, ``unreliable`` or ``timeout``.
    n_tests : int
        CI tests computed for all targets together.
    columns : list of str
        Names of the table's columns, in table order.
    sample : str
        Of how many rows how many were taken, if there are more than `max_rows`; else empty.

    Examples
    --------
    >>> import blanketflow as bf
    >>> from sklearn.datasets import load_iris
    >>> found = bf.blankets(load_iris(as_frame=True).data, method="mmpc", ci_test="fisher-z")
    >>> len(found), found.statuses["sepal width (cm)"]
    (4, ('ok', ''))
    """

    found: dict[str, list[Step]]
    statuses: dict[str, tuple[str, str]]
    n_tests: int
    columns: list[str] = field(repr=False)
    sample: str = ""

    def __getitem__(self, target: str) -> list[str]:
        """Return the names of a target's blanket, most important first."""
        return [step.feature for step in self.found[target]]

    def __iter__(self) -> Iterator[str]:
        return iter(self.found)

    def __len__(self) -> int:
        return len(self.found)

    def __repr__(self) -> str:
        from .shown import blankets_text

        return blankets_text(self)

    def _repr_html_(self) -> str:
        from .shown import blankets_html

        return blankets_html(self)

    def to_dict(self) -> dict[str, list[str]]:
        """Return the names of each target's blanket.

        Returns
        -------
        dict of str to list of str
            By target, most important first.

        Examples
        --------
        >>> Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"]).to_dict()
        {'a': ['b']}
        """
        return {target: self[target] for target in self.found}

    def union(self) -> list[str]:
        """Return the columns that are in the blanket of at least one target.

        Returns
        -------
        list of str
            Those of the first target first, and most important first within a target.

        Examples
        --------
        >>> found = {"a": [Step("x"), Step("y")], "b": [Step("z"), Step("x")]}
        >>> Blankets(found, {}, 2, ["a", "b", "x", "y", "z"]).union()
        ['x', 'y', 'z']
        """
        return list(dict.fromkeys(step.feature for steps in self.found.values() for step in steps))

    def frame(self) -> pd.DataFrame:
        """Return the members of all blankets as a table.

        Returns
        -------
        DataFrame
            One row per target and member: target, feature, rank (from 1), role, importance, statistic, p_value.

        Examples
        --------
        >>> found = Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"])
        >>> found.frame()[["target", "feature", "rank"]].values.tolist()
        [['a', 'b', 1]]
        """
        import pandas as pd

        rows = [
            (target, step.feature, rank, step.role, step.importance, step.statistic, step.p_value)
            for target, steps in self.found.items()
            for rank, step in enumerate(steps, start=1)
        ]
        names = ["target", "feature", "rank", "role", "importance", "statistic", "p_value"]
        return pd.DataFrame(rows, columns=names)

    def graph(self, symmetry: str = "and") -> pd.DataFrame:
        """Return the graph of the blankets: one row per edge, with columns `x`, `y` and `kind`.

        Parameters
        ----------
        symmetry : {"and", "or"}
            Whether an edge needs each column in the other's blanket, or only one of them.

        Returns
        -------
        DataFrame
            `kind` is ``neighbours`` if a blanket has the other as parent or child, ``spouses`` if both have it only as
            a spouse, else ``members``: the method does not report roles. `x` stands before `y` in the table.
            ``networkx.from_pandas_edgelist(edges, "x", "y", edge_attr=True)`` makes a graph of it.

        Raises
        ------
        ParameterError
            If `symmetry` is something else.

        Examples
        --------
        >>> found = Blankets({"a": [Step("b")]}, {"a": ("ok", "")}, 1, ["a", "b"])
        >>> found.graph("or").values.tolist()
        [['a', 'b', 'members']]
        """
        import pandas as pd

        if symmetry not in ("and", "or"):
            raise ParameterError(f"graph: symmetry is {symmetry!r}, but must be 'and' or 'or'.")
        roles = {(target, step.feature): step.role for target, steps in self.found.items() for step in steps}
        edges = []
        for i, x in enumerate(self.columns):
            for y in self.columns[i + 1 :]:
                seen = {roles.get((x, y)), roles.get((y, x))} - {None}
                is_edge = (x, y) in roles and (y, x) in roles if symmetry == "and" else bool(seen)
                if is_edge:
                    kind = "neighbours" if PARENT_OR_CHILD in seen else "spouses" if seen == {SPOUSE} else "members"
                    edges.append((x, y, kind))
        return pd.DataFrame(edges, columns=["x", "y", "kind"])
