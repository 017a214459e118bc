"""What a benchmark writes: one JSON file with the machine, every repetition, medians, and ratios with their spread.

    {"benchmark": "ppfs", "command": "python -m studies.speed.ppfs", "date": "2026-11-21", "seconds": 312.0,
     "machine": {"processor": ..., "cores": 2, "memory_gb": 23.5, "platform": ..., "python": ..., "load": 0.1},
     "versions": {"blanketflow": ..., "numpy": ..., "numba": ..., ...},
     "measurements": [{"table": "warm", "case": {"data": "breast_cancer", "B": 30, "K": 5}, "package": "blanketflow",
                       "unit": "CPU s", "runs": [0.41, 0.4], "median": 0.405, "facts": {"features": 11}}],
     "ratios": [{"table": "warm", "case": {...}, "package": "PyImpetus", "median": 240.0, "low": 235.0, "high": 246.0}]}

A ratio is a peer's time over blanketflow's in the same case, of the same run: the median over all pairs of repetitions,
and the range that holds nine tenths of them.
"""

from __future__ import annotations

import datetime
import itertools
import json
import os
import platform
import shlex
import statistics
import sys
import time
from collections.abc import Iterable, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

RESULTS = Path(__file__).parents[2] / "results"
#: The results of the study that runs.
RESULTS = Path(sys.argv[0]).resolve().parent / "results"
OWN = "blanketflow"
BASE = (OWN, "numpy", "numba", "scipy", "scikit-learn", "pandas", "pyarrow", "snakemake")
#: Digits of what is stored; more would be noise.
DIGITS = 4
#: Names and types of the top level, of a measurement and of a ratio.
TOP = {
    "benchmark": str,
    "command": str,
    "date": str,
    "seconds": float,
    "machine": dict,
    "versions": dict,
    "measurements": list,
    "ratios": list,
}
MEASUREMENT = {
    "table": str,
    "case": dict,
    "package": str,
    "unit": str,
    "runs": list,
    "median": float,
    "facts": dict,
}
RATIO = {"table": str, "case": dict, "package": str, "median": float, "low": float, "high": float}


class Record:
    """The measurements of one run of a benchmark; each is on disk as soon as it is made.

    Parameters
    ----------
    name : str
        Name of the benchmark and of its file.
    peers : iterable of str
        Distributions whose versions belong to the result.
    folder : Path
        Where the file is written.
    renews : bool
        Whether the file that is there is kept but for what is measured, which gets a fact with the date.
    """

    def __init__(self, name: str, peers: Iterable[str] = (), folder: Path = RESULTS, renews: bool = False) -> None:
        self.path = folder / f"{name}.json"
        self._begin = time.perf_counter()
        arguments = [Path(word).name if "/" in word else word for word in sys.argv[1:]]
        self._content: dict[str, Any] = {
            "benchmark": name,
            "command": shlex.join(["python", "-m", running(), *arguments]),
            "date": datetime.datetime.now(tz=datetime.UTC).date().isoformat(),
            "seconds": 0.0,
            "machine": machine(),
            "versions": versions([*BASE, *peers]),
            "measurements": [],
            "ratios": [],
        }
        self._renewed = self._content["date"] if renews else ""
        if renews:
            self._content = json.loads(self.path.read_text(encoding="utf-8"))

    def add(self, table: str, package: str, runs: Sequence[float], unit: str = "CPU s", **case: Any) -> None:
        """Add repetitions of one measurement; `facts=` of the case says what else was seen, `case` identifies it."""
        facts = case.pop("facts", {})
        shown = [rounded(run) for run in runs]
        median = rounded(statistics.median(shown))
        measured = {"table": table, "case": case, "package": package, "unit": unit, "runs": shown, "median": median}
        kept = self._content["measurements"]
        if self._renewed:
            facts = {**facts, "renewed": self._renewed}
            kept[:] = [one for one in kept if (one["table"], one["case"], one["package"]) != (table, case, package)]
        kept.append({**measured, "facts": facts})
        told = " ".join(f"{key}={value}" for key, value in case.items())
        print(f"{table}: {told} {package}: {median:.4g} {unit} of {len(shown)} {facts or ''}", flush=True)
        self.write()

    @property
    def content(self) -> dict[str, Any]:
        """What there is by now."""
        return self._content

    def write(self) -> None:
        """Write what there is by now."""
        if not self._renewed:
            self._content["seconds"] = round(time.perf_counter() - self._begin, 1)
        self._content["ratios"] = ratios(self._content["measurements"])
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.write_text(_text(self._content), encoding="utf-8")


def ratios(measurements: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return how many times as long peers took as blanketflow in the same case."""
    own = {_case(m): m for m in measurements if m["package"] == OWN}
    found = []
    for measurement in measurements:
        ours = own.get(_case(measurement))
        if ours is None or measurement["package"] == OWN:
            continue
        pairs = sorted(a / b for a, b in itertools.product(measurement["runs"], ours["runs"]) if b > 0)
        if not pairs:
            continue
        margin = round(0.05 * (len(pairs) - 1))
        low, high = pairs[margin], pairs[-1 - margin]
        names = {key: measurement[key] for key in ("table", "case", "package")}
        numbers = {"median": statistics.median(pairs), "low": low, "high": high}
        found.append({**names, **{key: rounded(value) for key, value in numbers.items()}})
    return found


def running() -> str:
    """Return the name of the module that runs, as `python -m` takes it."""
    spec = sys.modules["__main__"].__spec__
    return spec.name.removesuffix(".__main__") if spec else Path(sys.argv[0]).name


def machine() -> dict[str, Any]:
    """Return what the numbers depend on, as far as the system tells."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text().splitlines() if info.exists() else []
    name = next((line.split(":")[1].strip() for line in lines if line.startswith("model name")), platform.processor())
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 1e9
    return {
        "processor": name,
        "cores": os.cpu_count(),
        "memory_gb": round(memory, 1),
        "platform": platform.platform(aliased=True),
        "python": platform.python_version(),
        "load": round(os.getloadavg()[0], 2),
    }


def versions(packages: Iterable[str]) -> dict[str, str]:
    """Return the versions of the packages that are there."""
    found = {}
    for package in packages:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found


def rounded(number: float) -> float:
    """Return a number to so many digits as mean something."""
    return float(f"{number:.{DIGITS}g}")


def read(name: str, folder: Path) -> dict[str, Any]:
    """Return a result file; raise `ValueError` if it is none."""
    path = folder / f"{name}.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    check(content, str(path))
    return content


def check(content: dict[str, Any], name: str) -> None:
    """Raise `ValueError` unless the content has the form of a result file."""
    _check(content, TOP, name)
    for key, form in (("measurements", MEASUREMENT), ("ratios", RATIO)):
        for i, entry in enumerate(content[key]):
            _check(entry, form, f"{name}: {key}[{i}]")


def _check(entry: dict[str, Any], form: dict[str, type], name: str) -> None:
    if set(entry) != set(form):
        raise ValueError(f"{name}: has {sorted(entry)}, not {sorted(form)}.")
    for key, kind in form.items():
        if not isinstance(entry[key], kind):
            raise ValueError(f"{name}: {key} is {type(entry[key]).__name__}, not {kind.__name__}.")


def _text(content: dict[str, Any]) -> str:
    """Return JSON with one line a measurement."""
    lines = []
    for key, value in content.items():
        if isinstance(value, list):
            entries = ",\n".join(f"  {json.dumps(entry, ensure_ascii=False)}" for entry in value)
            lines.append(f" {json.dumps(key)}: [\n{entries}\n ]")
        else:
            lines.append(f" {json.dumps(key)}: {json.dumps(value, ensure_ascii=False)}")
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _case(measurement: dict[str, Any]) -> str:
    return json.dumps([measurement["table"], measurement["case"], measurement["unit"]], sort_keys=True)
