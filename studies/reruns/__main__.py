"""How long it takes to compare what stands with what is planned: `python -m studies.reruns`.

A plan of many selectors on small simulated tables. The files of the smaller plan are real artefacts, without and with a
manifest; those of the larger one are empty, and only the manifest, which is made here, says what they are.
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path

from blanketflow.data.artefacts import write_columns, write_json
from blanketflow.data.provenance import Provenance, identity_of
from blanketflow.workflow.identity import content_of, what_of
from blanketflow.workflow.job_files import JobFiles
from blanketflow.workflow.plan import make_plan
from blanketflow.workflow.specs import Plan
from blanketflow.workflow.up_to_date import Artefacts, Known, Manifest, check
from studies.shared.jobs import REPO


def planned(output: Path, n_datasets: int, n_selectors: int) -> Plan:
    """Return a plan of ten outer splits and five folds: 143 files for each pair."""
    return make_plan(
        {
            "output": str(output),
            "datasets": {f"d{i}": {"source": "simulate:clinic", "rows": 200} for i in range(n_datasets)},
            "splits": {"evaluation": 10},
            "selectors": {f"s{i}": {"method": "mim", "n_features": 1 + i % 9} for i in range(n_selectors)},
        },
        (REPO / "scripts").joinpath,
    )


def make_files(plan: Plan, is_real: bool) -> int:
    """Write every artefact of a plan, with one row or empty, and a manifest of the empty ones; return how many."""
    output = Path(plan.config.output)
    manifest, contents = Manifest(output), dict[Path, str]()
    n = 0
    for one in Artefacts(JobFiles(plan, output.joinpath)):
        n += 1
        one.path.parent.mkdir(parents=True, exist_ok=True)
        what, inputs = what_of(one.artefact, one.path), [*one.digests, *(contents[path] for path in one.inputs)]
        beside = {}
        if one.artefact == "table":
            card = one.path.with_name("card.json")
            write_json(card, {})
            beside = {card.name: content_of(card)}
            contents[card] = beside[card.name]
        if one.path.suffix == ".json":
            write_json(one.path, {"identity": identity_of(what, one.spec, one.code, inputs)})
            continue
        if is_real:
            said = Provenance(spec=one.spec, code=one.code, what=what, inputs=inputs, beside=beside)
            write_columns(one.path, {"n": [n]}, {"n": "int64"}, said)
            contents[one.path] = content_of(one.path)
            continue
        one.path.touch()
        state, identity = one.path.stat(), identity_of(what, one.spec, one.code, inputs)
        contents[one.path] = f"{n:032x}"
        known = Known(state.st_size, state.st_mtime_ns, identity, contents[one.path], json.dumps(beside))
        manifest.known[one.path.relative_to(output).as_posix()] = known
    manifest.is_changed = not is_real
    manifest.save()
    return n


def seconds(plan: Plan, n: int, *, keep: bool) -> float:
    """Return the CPU seconds of a comparison that finds everything in its place."""
    begin = time.process_time()
    found = check(plan, plan.config.output, keep=keep)
    spent = time.process_time() - begin
    assert found.n_standing == n and not found.again, (found.n_standing, n, found.line())
    return spent


def main() -> None:
    """Print the times."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--large", type=int, default=28, help="hundred selectors of the larger plan, on ten tables")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        plan = planned(Path(folder) / "small", 1, 31)
        n = make_files(plan, is_real=True)
        print(f"{n} artefacts, no manifest: {seconds(plan, n, keep=False):.2f} CPU s")
        seconds(plan, n, keep=True)
        print(f"{n} artefacts, with a manifest: {seconds(plan, n, keep=False):.2f} CPU s")
        begin = time.process_time()
        plan = planned(Path(folder) / "large", 10, asked.large * 10)
        print(f"the plan itself: {time.process_time() - begin:.1f} CPU s")
        n = make_files(plan, is_real=False)
        print(f"{n} artefacts, with a manifest: {seconds(plan, n, keep=False):.1f} CPU s")


if __name__ == "__main__":
    main()
