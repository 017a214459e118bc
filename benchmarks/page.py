"""Writes the tables and charts of docs/performance.md, costs.md and cluster.md from results.

`python benchmarks/page.py`. The text between the tables is written by hand. A table without numbers says so.
"""

from __future__ import annotations

import argparse
import re
import textwrap
from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import Any

from nips2003 import PRINTED
from suite import charts, cost_tables, tables
from suite.record import OWN, RESULTS, read

ROOT = Path(__file__).parents[1]
#: Result files in the order of the page.
NAMES = (
    "ppfs",
    "nips2003",
    "scaling",
    "cores",
    "cores-many",
    "limits",
    "ci_tests",
    "kernels",
    "markov_blankets",
    "markov_blankets-causalfs",
    "filters",
    "filters-feast",
    "workflow",
    "overhead",
)


def sentence(content: dict[str, Any]) -> str:
    """Return what docs/performance.md says of PPFS in a sentence."""
    parts = []
    for table, where in (("warm", "in a warm process"), ("shell", "from the shell, all imports included")):
        found = [m for m in tables.entries(content, table, OWN, B=30, K=5) if "breast_cancer" in m["case"]["data"]]
        times = [r for r in content["ratios"] if r["table"] == table and found and r["case"] == found[0]["case"]]
        if times:
            seconds, ratio = tables.figure(found[0]["median"]), f"{times[0]['median']:,.0f}"
            parts.append(f"{seconds} s {where}, where PyImpetus takes {ratio} times as long")
    told = "; ".join(parts) or "a time that was not measured yet"
    version = content["versions"].get("PyImpetus", "")
    lines = f"PPFS on breast-cancer (30 repeats, 5 folds) takes {told} (CPU seconds of one core, PyImpetus {version})."
    return "\n".join(textwrap.wrap(lines, 120))


#: By the block's name: the file that it is made of, and how.
BLOCKS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "ppfs in a sentence": ("ppfs", sentence),
    "ppfs": ("ppfs", tables.ppfs),
    "ppfs from the shell": ("ppfs", partial(tables.ppfs, table="shell")),
    "nips 2003": ("nips2003", partial(tables.nips2003, printed=PRINTED)),
    "nips 2003 errors": ("nips2003", partial(tables.nips2003_errors, printed=PRINTED)),
    "growth": ("scaling", tables.growth),
    "cores": ("cores", tables.cores),
    "many cores": ("cores-many", tables.cores),
    "memory": ("scaling", tables.memory),
    "limits": ("limits", tables.limits),
    "ci tests": ("ci_tests", tables.ci_tests),
    "fisher z": ("ci_tests", tables.fisher_z),
    "kernel tests": ("kernels", tables.kernel_tests),
    "kernel rankings": ("kernels", tables.kernel_rankings),
    "alarm 500": ("markov_blankets", partial(tables.networks, network="alarm", rows_of=500)),
    "alarm 5000": ("markov_blankets", partial(tables.networks, network="alarm", rows_of=5_000)),
    "alarm 50000": ("markov_blankets", partial(tables.networks, network="alarm", rows_of=50_000)),
    "andes": ("markov_blankets", partial(tables.networks, network="andes", rows_of=5_000)),
    "pigs": ("markov_blankets", partial(tables.networks, network="pigs", rows_of=5_000)),
    "link": ("markov_blankets", partial(tables.networks, network="link", rows_of=5_000)),
    "causalfs alarm 500": ("markov_blankets-causalfs", partial(tables.networks, network="alarm", rows_of=500)),
    "causalfs alarm 5000": ("markov_blankets-causalfs", partial(tables.networks, network="alarm", rows_of=5_000)),
    "causalfs andes": ("markov_blankets-causalfs", partial(tables.networks, network="andes", rows_of=5_000)),
    "causalfs pigs": ("markov_blankets-causalfs", partial(tables.networks, network="pigs", rows_of=5_000)),
    "causalfs link": ("markov_blankets-causalfs", partial(tables.networks, network="link", rows_of=5_000)),
    "filters": ("filters", tables.filters),
    "filters feast": ("filters-feast", tables.filters),
    "forms": ("filters", tables.forms),
    "forms feast": ("filters-feast", tables.forms),
    "filter memory": ("filters", tables.filter_memory),
    "other rankings": ("filters", tables.other_rankings),
    "workflow": ("workflow", tables.workflow),
    "single jobs": ("overhead", tables.single_jobs),
    "starts": ("overhead", tables.starts),
}
#: The blocks of docs/costs.md and docs/cluster.md.
COSTS: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "shares": ("costs", cost_tables.shares),
    "peaks": ("costs", cost_tables.peaks),
}
CLUSTER: dict[str, tuple[str, Callable[[dict[str, Any]], str]]] = {
    "walls": ("cluster", tables.walls),
    "plan": ("plan_scale", tables.plan_scale),
    "wide": ("plan_scale", tables.wide_jobs),
}
#: What has a page of its own, and no place in performance.md's table of runs.
ELSEWHERE = ("costs", "cluster", "plan_scale")


def main() -> None:
    """Renew the pages and the charts."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=Path, default=RESULTS, metavar="FOLDER", help="where the JSON files are")
    parser.add_argument("--root", type=Path, default=ROOT, metavar="FOLDER", help="where docs/ is")
    chosen = parser.parse_args()
    measured = [name for name in (*NAMES, *ELSEWHERE) if (chosen.results / f"{name}.json").is_file()]
    contents = {name: read(name, chosen.results) for name in measured}
    own = {name: contents.pop(name) for name in ELSEWHERE if name in contents}
    for name, found in {
        "docs/performance.md": {"runs": tables.runs(contents), **blocks(contents, BLOCKS)},
        "docs/costs.md": blocks(own, COSTS),
        "docs/cluster.md": blocks(own, CLUSTER),
    }.items():
        write(chosen.root / name, found)
    charts.write(chosen.root / "docs", contents)


def blocks(contents: dict[str, dict[str, Any]], known: Mapping[str, tuple[str, Callable[..., str]]]) -> dict[str, str]:
    """Return the text of every block of a page."""
    found = {}
    for name, (source, make) in known.items():
        text = make(contents[source]) if source in contents else ""
        empty = not text or (text.count("\n") == 1 and text.startswith("|"))
        found[name] = f"Not measured yet (`benchmarks/{source.partition('-')[0]}.py`)." if empty else text
    return found


def write(page: Path, found: dict[str, str]) -> None:
    """Renew the blocks of a page."""
    page.write_text(renewed(page.read_text(encoding="utf-8"), found, str(page)), encoding="utf-8")


def renewed(text: str, found: dict[str, str], name: str) -> str:
    """Return a text with what stands between the marks of each block replaced."""
    for block, content in found.items():
        marks = f"<!-- {block} -->", f"<!-- end of {block} -->"
        pattern = re.compile(f"(?s){re.escape(marks[0])}.*?{re.escape(marks[1])}")
        whole = f"{marks[0]}\n{content}\n{marks[1]}"
        text, count = pattern.subn(lambda _, whole=whole: whole, text)
        if count != 1:
            raise SystemExit(f"{name}: {marks[0]} and {marks[1]} must each occur once, in this order.")
    return text


if __name__ == "__main__":
    main()
