"""Does the advice of `blanketflow inspect` end with an answer? It is followed on each data set at hand.

Runs what is advised to begin with, one command after the other: which features to keep to predict, and a Markov
blanket. The data sets are scikit-learn's, and those in the folder that the environment variable BLANKETFLOW_DATA names:
one folder each, with NAME.csv or NAME.npz, described in catalogue.json. Results are kept in found.json, so that
a run goes on where the last one ended, and are written into README.md. Takes an hour of CPU time.

    python -m studies.advice [--fresh] [NAME ...]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from blanketflow.api.inspection import inspect_table
from blanketflow.api.starting_config import in_yaml
from blanketflow.config.reading import checked_dataset

HERE = Path(__file__).parent
RESULTS, PAGE = HERE / "found.json", HERE / "README.md"
BUNDLED = ("wine", "breast_cancer", "diabetes", "digits")
#: Wall seconds after which a command has not ended.
LIMIT = 1800
BEGIN, END = "<!-- tried -->", "<!-- end of tried -->"


def data_sets() -> Iterator[tuple[str, str, dict[str, Any]]]:
    """Yield name, source and further keys of each data set."""
    for name in BUNDLED:
        yield name, f"sklearn:{name}", {}
    folder = Path(os.environ.get("BLANKETFLOW_DATA", "there is none"))
    if not (folder / "catalogue.json").is_file():
        print("Without BLANKETFLOW_DATA only the data sets of scikit-learn are tried.", file=sys.stderr)
        return
    for name, known in json.loads((folder / "catalogue.json").read_text(encoding="utf-8")).items():
        path = folder / name / f"{name}.csv"
        path = path if path.is_file() else path.with_suffix(".npz")
        more: dict[str, Any] = {"task": "regression" if known["kind"] == "regression" else "classification"}
        labels = [column for column in known["categorical"] if column != "target"]
        yield name, str(path), more | ({"categorical": labels} if labels else {})


def try_advice(source: str, more: dict[str, Any]) -> list[dict[str, Any]]:
    """Return what came of each command that is advised."""
    target = {} if source.startswith("sklearn:") else {"target": "target"}
    spec = checked_dataset("table", {"source" if not target else "path": source, **target, **more})
    seen = inspect_table(spec)
    return [followed(source, more, bool(target), seen, advice) for advice in seen.advice]


def followed(source: str, more: dict[str, Any], has_target: bool, seen: Any, advice: Any) -> dict[str, Any]:
    """Return what came of one advice."""
    keys = [f"{key}={in_yaml(value)}" for key, value in more.items()]
    settings = [f"{key}={in_yaml(value)}" for key, value in advice.options.items()]
    command = [sys.executable, "-m", "blanketflow.cli", "select", source, "--json", "--method", advice.method]
    command += ["--target", "target"] if has_target else []
    command += (["--set", *settings] if settings else []) + (["--data-set", *keys] if keys else [])
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    row = {"rows": seen.n_rows, "features": seen.n_features, "method": " ".join([advice.method, *settings])}
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=LIMIT, check=False)
    except subprocess.TimeoutExpired:
        return {**row, "status": f"not ended after {LIMIT} s"}
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    row["seconds"] = round(after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime, 1)
    if done.returncode:
        return {**row, "status": "error", "reason": done.stderr.strip().splitlines()[-1]}
    found = json.loads(done.stdout)
    reason = found["reason"] or ("" if found["blanket"] else found["verdict"].get("sentence", ""))
    return {**row, "test": found["ci_test"] or "", "status": found["status"], "reason": reason} | {
        "kept": len(found["blanket"])
    }


def page(rows: dict[str, list[dict[str, Any]]]) -> str:
    """Return the table of README.md."""
    lines = ["| data set | rows | features | command | CI test | status | kept | CPU s |", "|" + " --- |" * 8]
    for name, tried in rows.items():
        for row in tried:
            status = row["status"] + (f": {row['reason']}" if row.get("reason") else "")
            shown = (name, f"{row['rows']:,}", f"{row['features']:,}", f"`{row['method']}`", row.get("test", ""))
            lines.append(f"| {' | '.join(shown)} | {status} | {row.get('kept', '')} | {row.get('seconds', '')} |")
    ended = [row for tried in rows.values() for row in tried]
    answers = [row for row in ended if row["status"] == "ok" and row.get("kept")]
    said = f"{len(answers)} of {len(ended)} commands, on {len(rows)} data sets, end with a reliable set of features."
    return "\n".join([said, "", *lines])


def main() -> None:
    """Follow the advice on each data set, and write the page after each."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*", metavar="NAME", help="only these data sets")
    parser.add_argument("--fresh", action="store_true", help="try again what was tried")
    arguments = parser.parse_args()
    rows = json.loads(RESULTS.read_text(encoding="utf-8")) if RESULTS.is_file() else {}
    for name, source, more in data_sets():
        if (arguments.names and name not in arguments.names) or (name in rows and not arguments.fresh):
            continue
        rows[name] = try_advice(source, more)
        print(name, rows[name], flush=True)
        RESULTS.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    known = [name for name, _, _ in data_sets()]
    ordered = {name: rows[name] for name in [*known, *sorted(set(rows) - set(known))] if name in rows}
    text = PAGE.read_text(encoding="utf-8")
    PAGE.write_text(
        re.sub(f"(?s){BEGIN}.*?{END}", lambda _: f"{BEGIN}\n{page(ordered)}\n{END}", text), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
