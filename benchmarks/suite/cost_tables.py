"""From costs.json to the tables of docs/costs.md: what was measured beside what the plan reckons with today."""

from __future__ import annotations

from collections.abc import Sequence

from blanketflow.workflow.estimates import memory

from .cost_cases import estimate, loading, work_of
from .job_memory import FILES, TINY_FILES
from .tables import Content, Entry, entries, figure, markdown

#: Seconds from which a job is worth its start, and less of which is not compared by itself.
LONG = 1.0
FACTORS = (2, 3, 10)


def _kind(entry: Entry) -> str:
    case = entry["case"]
    if "model" in case:
        return "models"
    return work_of(case["method"]) if "method" in case else "tests given nothing"


def _ratio(entry: Entry, loaded: float = 0.0) -> float:
    """Return the estimate over the measurement; at most 1 where a process was ended at its limit."""
    found = (estimate(entry["case"]) + loaded) / (max(entry["median"], 1e-4) + loaded)
    return min(found, 1.0) if entry["facts"]["status"] == "limit" else found


def _share(ratios: Sequence[float], factor: float) -> str:
    within = sum(1 / factor <= ratio <= factor for ratio in ratios)
    return f"{100 * within / len(ratios):.0f} %" if ratios else ""


def _line(name: str, ratios: Sequence[float]) -> list[str]:
    low, high = (sum(map(far, ratios)) for far in (lambda r: r < 1 / FACTORS[1], lambda r: r > FACTORS[1]))
    return [name, str(len(ratios)), *(_share(ratios, factor) for factor in FACTORS), str(low), str(high)]


def shares(content: Content) -> str:
    """Return how many estimates are within some factors: all, the long ones, and those by what they are of."""
    found = entries(content, "seconds")
    long = [entry for entry in found if max(entry["median"], estimate(entry["case"])) >= LONG]
    rows = [_line("all, with what a job loads", [_ratio(entry, loading(entry["case"])) for entry in found])]
    rows.append(_line(f"{LONG:g} s and more, without", [_ratio(entry) for entry in long]))
    for kind in sorted(set(map(_kind, long))):
        rows.append(
            _line(
                kind if " " in kind or kind == "models" else f"`{kind}`", [_ratio(e) for e in long if _kind(e) == kind]
            )
        )
    head = ["of", "cases", *(f"within {factor} times" for factor in FACTORS), "3 times too low", "3 times too high"]
    return markdown(head, rows)


def worst(content: Content, most: int = 15) -> str:
    """Return the estimates that are furthest off."""
    long = [entry for entry in entries(content, "seconds") if max(entry["median"], estimate(entry["case"])) >= LONG]
    far = sorted(long, key=lambda entry: -max(_ratio(entry), 1 / _ratio(entry)))[:most]
    rows = []
    for entry in far:
        case = entry["case"]
        what = " with ".join(f"`{case[key]}`" for key in ("method", "ci_test", "model") if case.get(key))
        more = "at least " if entry["facts"]["status"] == "limit" else ""
        rows.append([case["data"], what, more + figure(entry["median"]), figure(estimate(case))])
    return markdown(["table", "of", "CPU s", "estimate"], rows)


def _estimated_mb(case: dict[str, str]) -> int:
    shape, ending = {**FILES, **TINY_FILES}[case["data"]]
    work = work_of(case["selector"]) if "selector" in case else ""
    n_chosen = shape.n_features if case.get("selector") == "all" else memory.CHOSEN
    return memory.memory_mb(case["stage"], shape.facts(), is_text=ending == "csv", work=work, n_chosen=n_chosen)


def peaks(content: Content) -> str:
    """Return the most memory of the jobs of each stage and table, and the estimate."""
    found = entries(content, "memory")
    tables = list(dict.fromkeys(entry["case"]["data"] for entry in found))
    rows = []
    for stage in dict.fromkeys(entry["case"]["stage"] for entry in found):
        cells = [f"`{stage}`"]
        for table in tables:
            own = [entry for entry in found if entry["case"]["stage"] == stage and entry["case"]["data"] == table]
            most = max(own, key=lambda entry: entry["median"], default=None)
            told = f"{figure(most['median'])}, {_estimated_mb(most['case']):,}" if most else ""
            cells.append(told)
        rows.append(cells)
    return markdown(["stage", *tables], rows)
