"""From costs.json to the tables of README.md: what was measured beside what the plan estimates today."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from blanketflow.workflow.resources import CHOSEN, memory_mb
from studies.costs.cases import estimate, loading, work_of
from studies.costs.job_memory import FILES, TINY_FILES
from studies.speed.tables import Content, Entry, entries, figure, markdown

#: Seconds from which a job is worth its start, and less of which is not compared by itself.
LONG = 1.0
FACTORS = (2, 3, 10)


def _ratio(entry: Entry, loaded: float = 0.0) -> float:
    """Return the estimate over the measurement; at most 1 where a process was ended at its limit."""
    found = (estimate(entry["case"]) + loaded) / (max(entry["median"], 1e-4) + loaded)
    return min(found, 1.0) if entry["facts"]["status"] == "limit" else found


def _line(name: str, ratios: Sequence[float]) -> list[str]:
    factors = [max(ratio, 1 / ratio) for ratio in ratios]
    shares = [f"{100 * sum(found <= factor for found in factors) / len(factors):.0f} %" for factor in FACTORS]
    low, high = (sum(map(far, ratios)) for far in (lambda r: r < 1 / FACTORS[1], lambda r: r > FACTORS[1]))
    return [name, str(len(ratios)), f"{median(factors):.2g}", *shares, str(low), str(high)]


def shares(content: Content) -> str:
    """Return by what factor the estimates are off: of all cases, and of those that take long."""
    found = entries(content, "seconds")
    long = [entry for entry in found if max(entry["median"], estimate(entry["case"])) >= LONG]
    rows = [_line("all, with what a job loads", [_ratio(entry, loading(entry["case"])) for entry in found])]
    if long:
        rows.append(_line(f"{LONG:g} s and more, without", [_ratio(entry) for entry in long]))
    within = [f"within {factor} times" for factor in FACTORS]
    return markdown(["of", "cases", "median factor", *within, "3 times too low", "3 times too high"], rows)


def _estimated_mb(case: dict[str, str]) -> int:
    shape, ending = {**FILES, **TINY_FILES}[case["data"]]
    work = work_of(case["selector"]) if "selector" in case else ""
    n_chosen = shape.n_features if case.get("selector") == "all" else CHOSEN
    return memory_mb(case["stage"], shape.facts(), is_text=ending == "csv", work=work, n_chosen=n_chosen)


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
