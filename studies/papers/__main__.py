"""The papers' experiments beside what they printed: `python -m studies.papers [CONFIG ...]`, all by default.

Prepares the data from the folder that BLANKETFLOW_DATA names, runs each config of configs/, whose tables have the
verdicts on printed numbers and on claims, and writes the pages.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path

from studies.papers.page import CONFIGS
from studies.shared.page import ROOT


def main() -> int:
    """Run what was asked; return 1 if anything failed."""
    known = sorted(path.stem for path in CONFIGS.glob("*.yaml"))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("configs", nargs="*", metavar="CONFIG", help=", ".join(known))
    parser.add_argument("--cores", default=str(os.cpu_count() or 1))
    asked = parser.parse_args()
    if unknown := set(asked.configs) - set(known):
        parser.error(f"there is no config {', '.join(sorted(unknown))}")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, [str(ROOT), os.getenv("PYTHONPATH")]))}

    def run(*command: str) -> int:
        return subprocess.run(command, cwd=ROOT, env=environment).returncode

    if run(sys.executable, "-m", "studies.shared.paper_data"):
        return 1
    program = str(Path(sys.executable).with_name("blanketflow"))
    for name in asked.configs or known:
        if run(program, "run", "--cores", asked.cores, "--configfile", str(CONFIGS / f"{name}.yaml")):
            return 1
    return run(sys.executable, "-m", "studies.papers.page")


if __name__ == "__main__":
    sys.exit(main())
