"""The command line: ``blanketflow run``, ``select`` and ``list``."""

from __future__ import annotations

import argparse
import getpass
import json
import shutil
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from . import __version__
from .core.errors import BlanketflowError
from .jobs import fewer_collections


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the command line and return its exit code: 0 done, 1 failed, 2 wrong usage."""
    parser = argparse.ArgumentParser(prog="blanketflow", description="Markov-blanket feature selection.")
    parser.add_argument("--version", action="version", version=f"blanketflow {__version__}")
    commands = parser.add_subparsers(dest="command", required=True)
    run = commands.add_parser(
        "run",
        help="run the workflow and print the blankets found",
        description="Runs Snakemake in this folder with the given arguments, after a killed run too, and prints the "
        "features chosen per data set. All further arguments go to Snakemake, such as --cores 4 --configfile my.yaml.",
    )
    run.add_argument("snakemake", nargs=argparse.REMAINDER, help="arguments of Snakemake")
    _add_select(commands)
    commands.add_parser("list", help="list methods and CI tests")
    chosen, unknown = parser.parse_known_args(arguments)
    try:
        if chosen.command == "run":
            return _run([*unknown, *chosen.snakemake])
        if unknown:
            parser.error(f"unknown arguments: {' '.join(unknown)}")
        with fewer_collections():
            return _select(chosen) if chosen.command == "select" else _list()
    except BlanketflowError as error:
        print(f"blanketflow: {error}", file=sys.stderr)
        return 1


def _add_select(commands: Any) -> None:
    select = commands.add_parser(
        "select",
        help="find the Markov blanket of one table's target",
        description="Finds the Markov blanket of a target on all rows of a table, without the workflow; --set folds=5 "
        "combines the blankets of five folds. For several methods and an honest evaluation use blanketflow run.",
    )
    select.add_argument("table", help="CSV, TSV, Parquet or npz file, or a source such as sklearn:wine")
    select.add_argument("--target", help="column to explain")
    select.add_argument("--method", default="hiton-mb", help="id of blanketflow list (default: hiton-mb)")
    select.add_argument("--ci-test", help="id of blanketflow list (default: the method's own)")
    select.add_argument("--set", nargs="+", default=[], metavar="KEY=VALUE", help="options, such as alpha=0.01 max_k=2")
    select.add_argument("--test-set", nargs="+", default=[], metavar="KEY=VALUE", help="options of the CI test")
    select.add_argument("--data-set", nargs="+", default=[], metavar="KEY=VALUE", help="keys of a data set in a config")
    select.add_argument("--seed", type=int, default=2026, help="seed (default: 2026)")
    select.add_argument("--json", action="store_true", help="print JSON")


def _select(chosen: argparse.Namespace) -> int:
    from .core.registry import look_up
    from .one_shot import select, settings

    is_source = not Path(chosen.table).exists() and ":" in chosen.table
    dataset = {"source" if is_source else "path": chosen.table, "target": chosen.target, **settings(chosen.data_set)}
    test_options = settings(chosen.test_set)
    test = chosen.ci_test
    if test is None and test_options:
        test = look_up("blanketflow.selectors", chosen.method, "method").default_test
    ci_test = {"type": test, **test_options} if test else {}
    found = select(dataset, {"method": chosen.method, **settings(chosen.set)}, ci_test, chosen.seed)
    print(json.dumps(found.as_dict(), indent=2, ensure_ascii=False) if chosen.json else found.text())
    return 0


def _run(arguments: Sequence[str]) -> int:
    """Run Snakemake; clear the lock of a run that was killed, but never that of one that lives."""
    left = _jobs_in_slurm()
    if left:
        told = f"Slurm has jobs of another run in this folder. If that run was killed: scancel {' '.join(left)}"
        print(f"blanketflow: {told}; else wait for it.", file=sys.stderr)
        return 1
    others = _living_runs()
    if others:
        print(f"blanketflow: another run works in this folder (process {others[0]}). Wait for it.", file=sys.stderr)
        return 1
    snakemake = [sys.executable, "-m", "snakemake"]
    if any(Path(".snakemake/locks").glob("*")):
        print("blanketflow: an earlier run was killed; going on from where it was.", file=sys.stderr)
        unlocked = subprocess.run([*snakemake, "--unlock", *arguments], check=False, capture_output=True, text=True)
        if unlocked.returncode:
            print(f"{unlocked.stderr.strip()}\nblanketflow: the folder cannot be unlocked.", file=sys.stderr)
            return unlocked.returncode
    outcome = subprocess.run([*snakemake, *(arguments or ["--cores", "all"])], check=False)
    results = _output_folder(arguments) if outcome.returncode == 0 else None
    if results and (results / "report.html").is_file():
        _print_blankets(results)
    return outcome.returncode


def _jobs_in_slurm() -> list[str]:
    """Return the ids of Slurm jobs that a run submitted from this folder: they would write beside its successor's."""
    if shutil.which("squeue") is None:
        return []
    asked = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--states=pending,running", "--format=%A|%Z|%k"]
    listed = subprocess.run(asked, capture_output=True, text=True, check=False)
    if listed.returncode:
        told = f"cannot see whether Slurm has jobs of an earlier run ({listed.stderr.strip()}); going on."
        print(f"blanketflow: {told}", file=sys.stderr)
    jobs = [line.split("|", 2) for line in listed.stdout.splitlines()]
    # The executor's comments name the rule; a job without one may be this very command, which somebody submitted.
    return list(dict.fromkeys(i for i, where, comment in jobs if where == str(Path.cwd()) and comment[:5] == "rule_"))


def _living_runs() -> list[int]:
    """Return the process ids of Snakemake runs in this folder."""
    import psutil

    here, found = Path.cwd(), []
    for process in psutil.process_iter(["pid", "cmdline", "cwd"]):
        words = process.info["cmdline"] or []
        is_snakemake = any(Path(word).name == "snakemake" for word in words[:3])
        if is_snakemake and process.info["cwd"] and Path(process.info["cwd"]) == here:
            found.append(process.info["pid"])
    return found


def _output_folder(arguments: Sequence[str]) -> Path:
    """Return the results folder that Snakemake's arguments lead to."""
    import yaml

    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--configfile", "--configfiles", nargs="+", default=["config.yaml"])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    parser.add_argument("--directory", "-d", default=".")
    known, _ = parser.parse_known_args(arguments)
    output = "results"
    for path in known.configfile:
        output = yaml.safe_load(Path(path).read_text(encoding="utf-8")).get("output", output)
    settings = dict(setting.partition("=")[::2] for setting in known.config)
    return Path(known.directory) / settings.get("output", output)


def _print_blankets(results: Path) -> None:
    """Print the final blanket of every pair in the order of the config, or why there is none."""
    from .artefacts import read_columns

    columns, _ = read_columns(results / "tables" / "blankets.parquet")
    found: dict[tuple[str, str], list[str]] = {}
    for dataset, selector, feature in zip(*(columns[k] for k in ("dataset", "selector", "feature")), strict=True):
        found.setdefault((dataset, selector), []).append(feature)
    asked = json.loads((results / "provenance.json").read_text(encoding="utf-8"))["config"]
    skipped = {(dataset, selector): reason for dataset, selector, reason in asked["skipped"]}
    for dataset in asked["order"]["datasets"]:
        print(f"\n{dataset}")
        for selector in asked["order"]["selectors"]:
            pair = (dataset, selector)
            if pair in skipped:
                print(f"  {selector}: skipped, {skipped[pair]}")
            elif pair in found:
                features = found[pair]
                shown = ", ".join(features[:12]) + (", ..." if len(features) > 12 else "")
                print(f"  {selector} ({len(features)}): {shown}")
            else:
                print(f"  {selector}: {_why_nothing(results / 'select' / dataset / 'full' / selector)}")
    print(f"\nReport: {results / 'report.html'}")


def _why_nothing(folder: Path) -> str:
    from .artefacts import read_provenance

    if not (folder / "blanket.parquet").is_file():
        return "no final blanket was asked for"
    provenance = read_provenance(folder / "blanket.parquet")
    return "no feature" if provenance.usable else f"failed, {provenance.reason}"


def _list() -> int:
    from .core.registry import discover

    for title, package in (("Methods", "blanketflow.selectors"), ("CI tests", "blanketflow.ci")):
        print(title)
        for identifier, found in discover(package).items():
            print(f"  {identifier:22} {found.card.summary}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
