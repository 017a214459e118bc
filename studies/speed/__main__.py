"""Runs the whole suite and renews README.md: `make bench`, or `python -m studies.speed [--full]`.

By default half an hour; `--full` adds what takes minutes a number. Paths of what must be built by hand come from the
environment variables FEAST and CAUSALFS, data from BLANKETFLOW_DATA; what is not there is left out.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time

#: In the order of running: what others wait for first.
SCRIPTS = (
    "ppfs",
    "limits",
    "scaling",
    "cores",
    "nips2003",
    "ci_tests",
    "ci_packages",
    "kernels",
    "filters",
    "markov_blankets",
    "overhead",
    "workflow",
)
#: What must be built by hand: script, option and environment variable.
BY_HAND = {"filters": ("--feast", "FEAST"), "markov_blankets": ("--causalfs", "CAUSALFS")}


def main() -> int:
    """Run what was asked; return 1 if anything failed."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--full", action="store_true", help="also what takes minutes a number")
    parser.add_argument("--only", nargs="+", choices=SCRIPTS, default=SCRIPTS, metavar="NAME", help=", ".join(SCRIPTS))
    chosen = parser.parse_args()
    failed = []
    for name in chosen.only:
        option, variable = BY_HAND.get(name, ("", ""))
        by_hand = [option, os.environ[variable]] if os.environ.get(variable) else []
        begin = time.perf_counter()
        print(f"\n== {name}", flush=True)
        asked = [sys.executable, "-m", f"studies.speed.{name}", *(["--full"] if chosen.full else []), *by_hand]
        if subprocess.run(asked).returncode:
            failed.append(name)
        print(f"== {name}: {time.perf_counter() - begin:.0f} s", flush=True)
    subprocess.run([sys.executable, "-m", "studies.speed.page"], check=True)
    if failed:
        print(f"failed: {', '.join(failed)}", file=sys.stderr)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
