"""`make soak`: many small runs, one run of many jobs and many calls of the library. Nothing may grow, nothing differ.

Each part may be killed and goes on from where it was: it keeps what it measured as CSV in its folder.
"""

import argparse
import contextlib
import csv
import hashlib
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import psutil

sys.path.insert(0, str(Path(__file__).parents[1] / "workflow"))
from workflow_runs import command, configure, contents, environment

COLUMNS = ("start", "seconds", "jobs", "mb", "files", "threads", "zombies")
CORES = 2
#: Jobs of one data set and selector below: on 5 splits, 5 folds each and a final one, grow and shrink; then the rest.
JOBS_A_PAIR = 67
#: What may grow from one time to another: open files, threads, and the memory of Snakemake, which keeps what it knows
#: of every job that has run.
MOST_MORE_FILES, MOST_MORE_THREADS, MOST_KB_A_JOB, MOST_MORE_MB = 20, 20, 10, 5
#: Fewer states say nothing of growth: a pool of threads fills as jobs happen to end.
FEWEST_STATES = 20


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=200, help="small runs, one after the other; 0: none")
    parser.add_argument("--jobs", type=int, default=5000, help="at least so many in one run; 0: no such run")
    parser.add_argument("--calls", type=int, default=560, help="selections in one process; 0: none")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()) / "blanketflow-soak")
    asked = parser.parse_args()
    found = []
    if asked.calls:
        found += library(asked.calls)
    if asked.runs:
        found += small_runs(asked.folder / "small", asked.runs)
    if asked.jobs:
        found += large_run(asked.folder / "large", asked.jobs)
    for one in found:
        print(f"FOUND: {one}")
    print("nothing grew and nothing differed" if not found else f"{len(found)} found")
    return bool(found)


def small_runs(folder, n_runs):
    """Run a tiny config again and again in one folder, without its results; return what differs, is left or grows."""
    configure(folder, config(n_datasets=1, n_selectors=2, evaluation=0, folds=2, grain="auto"))
    measured, found, first = Measured(folder / "soak.csv"), [], folder / "first.txt"
    while len(measured.rows) < n_runs and not found:
        subprocess.run(["rm", "-rf", folder / "results"], check=True)
        code, peak = watched(folder, every=0.2)
        measured.add(peak)
        number = len(measured.rows)
        now = [digest(folder / "results"), *sorted(kept(folder))]
        if not first.exists():
            first.write_text("\n".join(now))
        found += [f"run {number} ended with {code}"] if code else []
        other = set(now) ^ set(first.read_text().split("\n"))
        found += [f"run {number} differs from the first in {sorted(other)[:5]}"] if other else []
        found += [f"run {number} left {name}" for name in left(folder)]
        print(f"run {number}: {peak}", flush=True)
    return found + measured.growth("small runs", 0)


def large_run(folder, n_jobs):
    """Run a config of many tiny jobs; return what grew."""
    n_selectors = -(-n_jobs // (5 * JOBS_A_PAIR))
    configure(folder, config(n_datasets=5, n_selectors=n_selectors, evaluation=5, folds=5, grain="fold"))
    measured = Measured(folder / "soak.csv")
    code, _ = watched(folder, every=10, each=measured.add)
    found = [f"the run of {n_jobs} jobs ended with {code}"] if code else []
    found += [f"the run of {n_jobs} jobs left {name}" for name in left(folder)]
    return found + measured.growth("the large run", MOST_KB_A_JOB)


def library(n_calls):
    """Select by several methods in this process; return what grew."""
    from sklearn.datasets import load_breast_cancer

    import blanketflow as bf

    X, y = load_breast_cancer(return_X_y=True, as_frame=True)
    methods = {"hiton-mb": {"ci_test": "fisher-z"}, "iamb": {"ci_test": "g2"}, "mrmr": {"n_features": 5}, "gs": {}}
    methods |= {"jmi": {"n_features": 5}, "relief": {"n_features": 5}, "inter-iamb": {"ci_test": "lr-mixed"}}
    names, rows, chosen, begin = sorted(methods), [], {}, time.time()
    for call in range(n_calls):
        name = names[call % len(names)]
        now = bf.get_selector(name, random_state=0, **methods[name]).fit(X, y).selected_features_
        if chosen.setdefault(name, now) != now:
            return [f"{name} selected {now} after {chosen[name]}"]
        rows.append(state(psutil.Process(), begin, call))
    half = rows[len(rows) // 4]  # everything is imported, compiled and called several times by then
    print(f"{n_calls} selections: {half['mb']} MB after a quarter, {rows[-1]['mb']} MB at the end", flush=True)
    return growth("selections in one process", half, rows[-1], 0)


def config(n_datasets, n_selectors, evaluation, folds, grain):
    """Data sets of a few rows, so that a job is hardly more than its start."""
    methods = [(method, n) for n in range(1, 6) for method in ("mim", "jmi", "mrmr", "cmim")]
    return {
        "datasets": {f"d{i}": {"source": "simulate:clinic", "rows": 60} for i in range(n_datasets)},
        "splits": {"evaluation": evaluation, "final": True},
        "folds": folds,
        "grain": grain,
        "selectors": {f"{m}-{n}": {"method": m, "n_features": n} for m, n in methods[:n_selectors]},
        "models": ["naive-bayes"],
    }


def watched(folder, every, each=None):
    """Run Snakemake in a folder; return its exit code and the largest of all it held at a time."""
    (folder / "tmp").mkdir(exist_ok=True)
    more = {"TMPDIR": str(folder / "tmp"), "XDG_CACHE_HOME": str(folder / "cache")}
    call = command(folder, "--cores", CORES, "--rerun-incomplete")
    peak, begin = dict.fromkeys(COLUMNS, 0), time.time()
    if any((folder / ".snakemake/locks").glob("*")):  # of a soak that was killed
        subprocess.run([*call, "--unlock"], cwd=folder, env=environment() | more, capture_output=True, check=True)
    with (
        open(folder / "log", "w") as log,
        open(folder / "log") as lines,
        subprocess.Popen(call, cwd=folder, env=environment() | more, stdout=log, stderr=log) as process,
    ):
        seen, jobs = psutil.Process(process.pid), 0
        while process.poll() is None:
            jobs += lines.read().count("\nFinished jobid:")
            with contextlib.suppress(psutil.Error):  # a process has just ended
                now = state(seen, begin, jobs)
                peak = {name: max(peak[name], now[name]) for name in COLUMNS}
                if each:
                    each(now)
            try:
                process.wait(every)
            except subprocess.TimeoutExpired:
                continue
    return process.returncode, peak | {"seconds": round(time.time() - begin, 1)}


def state(process, begin, jobs):
    """What a process holds now."""
    children = process.children()
    dead = sum(one.status() == psutil.STATUS_ZOMBIE for one in children if one.is_running())
    held = (process.memory_info().rss / 2**20, process.num_fds(), process.num_threads(), dead)
    mb, *counts = held
    return dict(zip(COLUMNS, (round(begin), round(time.time() - begin, 1), jobs, round(mb, 2), *counts), strict=True))


class Measured:
    """Rows that a CSV file keeps, so that a soak may be killed and goes on."""

    def __init__(self, path):
        self.path = path
        if not path.exists():
            path.write_text(",".join(COLUMNS) + "\n")
        with open(path, newline="") as file:
            self.rows = [{name: float(row[name]) for name in COLUMNS} for row in csv.DictReader(file)]

    def add(self, row):
        self.rows.append(row)
        with open(self.path, "a", newline="") as file:
            csv.DictWriter(file, COLUMNS).writerow(row)

    def growth(self, what, kb_a_job):
        """What grew from the first quarter to the end, within the last start where it is one run."""
        rows = [row for row in self.rows if not kb_a_job or row["start"] == self.rows[-1]["start"]]
        worst = {name: max(row[name] for row in rows) for name in COLUMNS}
        early, late = rows[len(rows) // 4], rows[-1]
        print(f"{what}: {len(rows)} rows in {self.path}\n  early {early}\n  late  {late}\n  worst {worst}", flush=True)
        if len(rows) < FEWEST_STATES:
            return []
        found = growth(what, early, late, kb_a_job)
        if worst["zombies"] > 2 * CORES:
            found.append(f"{what}: {worst['zombies']:.0f} zombies")
        return found


def growth(what, early, late, kb_a_job):
    """What of two states is larger in the later one than it may be."""
    most = MOST_MORE_MB + max(late["jobs"] - early["jobs"], 0) * kb_a_job / 1024
    found = []
    if late["mb"] - early["mb"] > most:
        found.append(f"{what}: memory went from {early['mb']} to {late['mb']} MB")
    for name, called, more in (("files", "open files", MOST_MORE_FILES), ("threads", "threads", MOST_MORE_THREADS)):
        if late[name] - early[name] > more:
            found.append(f"{what}: {called} went from {early[name]:.0f} to {late[name]:.0f}")
    return found


def digest(results):
    """All content of a run's artefacts."""
    return hashlib.sha256(repr(contents(results)).encode()).hexdigest()


def kept(folder):
    """The files that a run keeps for itself, but for its log: their number may not grow."""
    held = [path for path in (folder / ".snakemake").rglob("*") if path.is_file() and path.parent.name != "log"]
    return [str(path.relative_to(folder)) for path in [*held, *(folder / "cache").rglob("*")]]


def left(folder):
    """What a finished run should not have left: temporary files, marks of incomplete outputs, processes."""
    names = [*(folder / "tmp").iterdir(), *(folder / "results").rglob("*.tmp"), *(folder / "results").rglob(".*")]
    names = [name for name in names if name.name != ".snakemake_timestamp"]  # the age of a folder that is an output
    names += [*(folder / ".snakemake/incomplete").glob("*"), *(folder / ".snakemake/locks").glob("*")]
    names += [*(folder / ".snakemake/scripts").glob("*")]
    here = []
    for process in psutil.process_iter(["cwd", "pid", "name"]):
        if process.info["cwd"] == str(folder.resolve()) and process.pid != os.getpid():
            here.append(f"process {process.pid} {process.info['name']}")
    return [*map(str, names), *here]


if __name__ == "__main__":
    sys.exit(main())
