"""Running the real workflow in a folder of its own, and reading what it planned, did and left behind."""

import contextlib
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pyarrow.parquet as pq
import yaml

from blanketflow.reporting import tables as result_tables
from blanketflow.workflow.layout import parse
from forked import HANGS, run_snakemake

PROJECT = Path(__file__).parents[2]
TABLES = tuple(result_tables.TABLES)
#: For runs of which only searches and scores are looked at: tables and report are a good part of a small run.
WITHOUT_TABLES = ("--omit-from", "tables")
#: For runs whose tables are looked at, but not the report, which draws charts.
WITHOUT_REPORT = ("--omit-from", "report")
# A rule's heading, and its wildcards until the blank or dated line that ends its entry.
_JOB = re.compile(r"^(?:local)?rule (\w+):\n((?: {4}.*\n)*)", re.MULTILINE)


def environment(project=PROJECT, *more_paths):
    """The environment of a run that imports blanketflow, and any plug-ins, from these folders."""
    return os.environ | {"PYTHONPATH": os.pathsep.join(map(str, [project / "src", *more_paths]))}


def command(folder, *arguments, project=PROJECT):
    """The Snakemake call that a person would type in `folder`; profiles/default is found beside the Snakefile."""
    own = ["--snakefile", project / "Snakefile", "--configfile", folder / "my.yaml"]
    return [sys.executable, "-m", "snakemake", *map(str, own), *map(str, arguments)]


def snakemake(folder, *arguments, project=PROJECT, plug_ins=(), check=True):
    """Run Snakemake to its end; `stdout` holds everything that it printed."""
    asked = command(folder, *arguments, project=project)[3:]
    outcome = run_snakemake(asked, folder, environment(project, *plug_ins))
    assert not check or outcome.returncode == 0, outcome.stdout
    return outcome


def start(folder, cores, is_far_enough, *arguments):
    """Start a run as leader of a process group of its own and wait until `is_far_enough()`."""
    with open(folder / "log", "w") as log:
        process = subprocess.Popen(
            command(folder, "--cores", cores, *arguments),
            cwd=folder,
            env=environment(),
            stdout=log,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    wait_until(is_far_enough, process, folder / "log")
    return process


def wait_until(is_so, process, log=None):
    """Wait for an event in the life of a process, which must not end before."""
    deadline = time.monotonic() + HANGS
    while not is_so():
        if process.poll() is not None or time.monotonic() > deadline:
            process.kill()
            raise AssertionError(log.read_text() if log else "it ended or hangs")
        time.sleep(0.02)


def kill(process):
    """Kill a run and everything that it started."""
    with contextlib.suppress(ProcessLookupError):  # it has ended by itself
        os.killpg(process.pid, signal.SIGKILL)
    process.wait()


def jobs(outcome):
    """The jobs that a run or dry run lists: (rule, wildcards) each, the target rule left out."""
    found = []
    for rule, entry in _JOB.findall(outcome.stdout):
        listed = re.search(r"^    wildcards: (.*)$", entry, re.MULTILINE)
        wildcards = dict(item.split("=") for item in listed[1].split(", ")) if listed else {}
        found += [(rule, wildcards)] if rule != "all" else []
    return found


def counts(listed, *wildcards):
    """How often each rule is listed, or each rule with the values of some wildcards."""
    return Counter((rule, *(own.get(name) for name in wildcards)) if wildcards else rule for rule, own in listed)


def planned(folder, *arguments, **how):
    """The jobs of a dry run."""
    outcome = snakemake(folder, "-n", *arguments, **how)
    listed = jobs(outcome)
    assert listed or "Nothing to be done" in outcome.stdout, outcome.stdout
    return listed


def ran(folder, *arguments, **how):
    """The jobs of a real run on two cores."""
    return jobs(snakemake(folder, "--cores", "2", *arguments, **how))


def configure(folder, config):
    """Write my.yaml."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "my.yaml").write_text(yaml.safe_dump(config, sort_keys=False), encoding="utf-8")
    return folder


def changed(folder, to, change):
    """Copy a finished folder, times included, and change its configuration in place by `change`."""
    shutil.copytree(folder, to)
    config = yaml.safe_load((to / "my.yaml").read_text(encoding="utf-8"))
    change(config)
    return configure(to, config)


def provenance(path):
    """What an artefact says of itself: the key-value metadata of its Parquet file."""
    said = {key.decode(): value.decode() for key, value in pq.read_schema(path).metadata.items()}
    numbers = {"seed": int(said["seed"]), "n_tests": int(said["n_tests"]), "seconds": float(said["seconds"])}
    return {**said, **numbers, "extra": json.loads(said["extra"])}


def columns(path):
    """An artefact's columns as lists."""
    return pq.ParquetFile(path).read().to_pydict()


def chosen(results, dataset, split, selector):
    """The features of a blanket."""
    found = columns(results / f"select/{dataset}/{split}/{selector}/blanket.parquet")
    return [feature for feature, taken in zip(found["feature"], found["chosen"], strict=True) if taken]


def winner(select, selector):
    """The folder of the fold whose set is the answer, below that of a data set's split."""
    folds = columns(select / selector / "folds.parquet")
    return select / selector / f"fold-{folds['fold'][folds['chosen'].index(True)]}"


def kept(fold):
    """The features that a fold keeps, most important first."""
    found = columns(fold / "shrink.parquet")
    order = sorted(range(len(found["feature"])), key=lambda i: -found["importance"][i])
    return [found["feature"][i] for i in order if found["kept"][i]]


def answers(select, selector):
    """The Markov blankets of blankets.parquet by number: (features by rank, count)."""
    rows = columns(select / selector / "blankets.parquet")
    found = {}
    for number, feature, rank, count in zip(*(rows[c] for c in ("blanket", "feature", "rank", "count")), strict=True):
        features, counted = found.setdefault(number, ([], count))
        assert rank == len(features) + 1 and counted == count
        features.append(feature)
    assert list(found) == list(range(1, len(found) + 1))
    return list(found.values())


def content(path):
    """Everything in a Parquet file that equal results have in common: all but seconds. Floats to the last digit."""
    table = pq.ParquetFile(path).read()
    kept = {name: table.column(name).to_pylist() for name in table.column_names if "seconds" not in name}
    said = {key: value for key, value in provenance(path).items() if key not in ("seconds", "seconds_parts", "beside")}
    return repr((kept, [str(field.type) for field in table.schema], said))


def findings(path):
    """The same of artefacts of two selectors that ask for the same, without what tells one from the other."""
    names = ("selector", "inputs", "checksum")
    return re.sub(rf"'({'|'.join(names)})': '[^']*'", "", content(path))


def contents(results):
    """The content of every Parquet file below a folder, by its path."""
    return {str(path.relative_to(results)): content(path) for path in sorted(results.rglob("*.parquet"))}


def assert_equal_results(found, expected):
    """Assert equal files with equal content, naming those that differ."""
    assert expected
    assert found.keys() == expected.keys()
    differ = [path for path in found if found[path] != expected[path]]
    assert not differ, [(path, found[path], expected[path]) for path in differ[:2]]


def blanketflow(folder, *arguments, plug_ins=()):
    """Call our command line in a folder; plug-ins are found in the folders `plug_ins`."""
    call = [sys.executable, "-m", "blanketflow.cli", *arguments]
    return subprocess.run(
        call, cwd=folder, env=environment(PROJECT, *plug_ins), capture_output=True, text=True, check=False
    )


def one_of_each_kind(results):
    """A file of each kind in a folder of results, by its kind; those that no run plans, such as logs, are left out."""
    found = {}
    for path in sorted(results.rglob("*")):
        is_planned = path.parent != results or path.suffix
        if path.is_file() and is_planned and path.relative_to(results).parts[0] not in ("logs", "benchmarks"):
            kind = None if path.name == ".snakemake_timestamp" else parse(path.relative_to(results)).artefact
            found |= {kind: path} if kind else {}
    return found


def check_says_what_is_missing(folder, plug_ins=()):
    """Delete a file of each kind, of one kind after the other, and compare with what `blanketflow check` says."""
    kinds = one_of_each_kind(folder / "results")
    for kind, path in kinds.items():
        path.rename(folder / "aside")
        said = blanketflow(folder, "check", "--configfile", "my.yaml", plug_ins=plug_ins)
        (folder / "aside").rename(path)
        assert (said.returncode, said.stdout) == (1, f"{path.relative_to(folder)}: missing\n"), kind
    return kinds
