"""What each way in takes beside a table; `tests/contract/test_ways_in.py` tries every cell."""

from __future__ import annotations

from .markdown import table

#: Classes and functions of Python, commands, and a config of the workflow.
WAYS = ("`fit`", "`bf.select`", "`bf.blankets`", "`bf.compare`", "`select`", "`compare`", "config")
WORKS, REFUSED = "yes", "no"
#: By what is asked for, the ways in that raise an error; all others take it.
REFUSING: dict[str, tuple[str, ...]] = {
    "weights that are counts": (),
    "sampling weights": ("`bf.select`",),
    "`groups`": (),
    "`within`": ("`bf.select`",),
    "`include`, `exclude`, `tiers`": (),
    "`feature_groups`": (),
    "`missing: impute`, `drop`, `error`": (),
    "`missing: pairwise`": ("`bf.select`",),
    "`imputations`": ("`bf.select`",),
    "several targets": ("`fit`", "`bf.select`", "`select`"),
}


def ways_in() -> str:
    """Return the table of what each way in takes.

    Examples
    --------
    >>> "| `within` | yes | no | yes |" in ways_in()
    True
    """
    rows = [[what, *(REFUSED if way in refusing else WORKS for way in WAYS)] for what, refusing in REFUSING.items()]
    return table(["asked for", *WAYS], rows)
