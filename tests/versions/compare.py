"""Compare what all tests, methods and models say under other versions and on an older processor: compare.py [NAME ...].

Without names all environments are compared with the one that this runs in. They stay in .venv-versions.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

from differences import beyond_rounding, differences
from environments import FOLDER, PROCESSORS, ROOT, all_environments, make, variables

SHOWN = ("Python", "numpy", "scipy", "pandas", "scikit-learn", "numba", "lightgbm")


def fingerprint(interpreter: str | Path, name: str) -> dict:
    """Return the fingerprint that an interpreter writes."""
    path = FOLDER / f"{name}.json"
    script = Path(__file__).with_name("fingerprint.py")
    subprocess.run([str(interpreter), str(script), str(path)], check=True, cwd=ROOT, env=variables(name))
    return json.loads(path.read_text())


def main(asked: list[str]) -> int:
    """Print a table and every difference; return how many environments differ."""
    FOLDER.mkdir(exist_ok=True)
    known = {name: (name, python, age) for name, python, age in all_environments()}
    names = [*known, *PROCESSORS]
    if unknown := set(asked) - set(names):
        print(f"no environment {', '.join(sorted(unknown))}; there are {', '.join(names)}", file=sys.stderr)
        return 2
    wanted, n_different = fingerprint(sys.executable, "locked"), 0
    print("| environment |", " | ".join(SHOWN), "| differences |")
    print("|---" * (len(SHOWN) + 2) + "|")
    _print_row("locked", wanted, "-")
    for name in asked or names:
        found = fingerprint(make(*known[name]) if name in known else sys.executable, name)
        different = list(differences(wanted, found))
        n_different += bool(different)
        _print_row(name, found, str(len(different) or "none"))
        print(*(f"    {line}" for line in different), sep="\n", end="\n" if different else "", flush=True)
        for line in beyond_rounding(wanted, found):
            print(f"    as stated: {line}", flush=True)
    return min(n_different, 1)


def _print_row(name: str, found: dict, verdict: str) -> None:
    print("|", " | ".join([name, *(found["versions"][package] for package in SHOWN), verdict]), "|", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
