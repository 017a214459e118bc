"""Writes the tables and charts of README.md from the files in results: `python -m studies.speed.page`.

The text between the tables is written by hand. A table without numbers says so.
"""

from __future__ import annotations

import textwrap
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from studies.shared.page import asked, blocks, there, write
from studies.shared.record import OWN
from studies.speed import charts, tables
from studies.speed.nips2003 import PRINTED

#: Result files in the order of the page.
NAMES = (
    "ppfs",
    "nips2003",
    "scaling",
    "cores",
    "cores-many",
    "limits",
    "ci_tests",
    "ci_packages",
    "kernels",
    "markov_blankets",
    "markov_blankets-causalfs",
    "filters",
    "filters-feast",
    "workflow",
    "overhead",
)


def sentence(content: dict[str, Any]) -> str:
    """Return what README.md says of PPFS in a sentence."""
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
    "ci packages": ("ci_packages", tables.ci_packages),
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


def main() -> None:
    """Renew the page and the charts."""
    chosen = asked(__doc__, Path(__file__).parent)
    contents = there(NAMES, chosen.results)
    write(chosen.page, {"runs": tables.runs(contents), **blocks(contents, BLOCKS)})
    charts.write(chosen.page.parent, contents)


if __name__ == "__main__":
    main()
