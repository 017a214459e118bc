"""What a job of each kind loads: its start is most of a small job's cost, and only what is imported decides it."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from sklearn.datasets import load_wine

from blanketflow.data.artefacts import read_columns
from blanketflow.workflow.plan import make_plan

pytestmark = pytest.mark.extended
REPO = Path(__file__).parents[2]
CONFIG = {
    "datasets": {"wine": {"path": "wine.csv", "target": "target"}},  # scikit-learn's own sets are read by it
    "splits": {"evaluation": 2, "final": False},
    "folds": 2,
    "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 5}},
    "selectors": {
        "ppfs": {"method": "ppfs", "ci_test": "ppi", "alpha": 0.5},
        "hiton-mb": {"method": "hiton-mb", "ci_test": "g2"},
        "mrmr": {"method": "mrmr", "ci_test": "g2", "n_features": 2},
    },
    "models": ["tree"],
}
#: Runs a script as Snakemake's rules do; prints the modules loaded and the compiled functions read from numba's cache.
PROGRAM = """
import json, runpy, sys
from types import SimpleNamespace
name, job = sys.argv[1], json.loads(sys.argv[2])
main = runpy.run_path(f"scripts/{name}.py")["main"]
from blanketflow.workflow.jobs import run_script
run_script(main, SimpleNamespace(**job, threads=1))
compiled = set()
if "numba" in sys.modules:
    from numba.core.dispatcher import Dispatcher
    kernels = [module for module in sys.modules if module.startswith("blanketflow.kernels.")]
    for function in (value for module in kernels for value in vars(sys.modules[module]).values()):
        if isinstance(function, Dispatcher) and function.signatures and function.stats.cache_path:
            compiled.add(f"{function.__module__.rpartition('.')[2]}.{function.__name__}")
print(json.dumps([sorted(sys.modules), sorted(compiled)]), file=sys.__stdout__)
"""


class Jobs:
    """Runs the jobs of one split by hand and keeps what each loaded."""

    def __init__(self, folder: Path) -> None:
        table = folder / "wine.csv"
        load_wine(as_frame=True).frame.to_csv(table, index=False)
        config = CONFIG | {"datasets": {"wine": CONFIG["datasets"]["wine"] | {"path": str(table)}}}
        self.folder, self.plan = folder, make_plan(config, (REPO / "scripts").joinpath)
        self.modules: dict[str, set[str]] = {}
        self.compiled: dict[str, list[str]] = {}

    def run(self, name, script, inputs, outputs, params, **wildcards):
        params = {"code": "", **params}
        job = {"log": [str(self.folder / f"{name}.log")], "input": inputs, "output": outputs, "params": params}
        job["wildcards"] = {"dataset": "wine", "split": "cv-1", **wildcards}
        call = [sys.executable, "-c", PROGRAM, script, json.dumps(job)]
        done = subprocess.run(call, cwd=REPO, capture_output=True, text=True, timeout=300)
        assert done.returncode == 0, done.stderr + Path(job["log"][0]).read_text()
        modules, self.compiled[name] = json.loads(done.stdout)
        self.modules[name] = set(modules)

    def at(self, name):
        """One path, or a path for each of both folds where the name holds a star."""
        paths = [str(self.folder / name.replace("*", fold)) for fold in ("1of2", "2of2")]
        return paths if "*" in name else paths[0]


@pytest.fixture(scope="module")
def jobs(tmp_path_factory):
    jobs = Jobs(tmp_path_factory.mktemp("jobs"))
    plan, at, folds = jobs.plan, jobs.at, ["1of2", "2of2"]
    parts = [f"cv-1/{fold}" for fold in folds]
    table, splits = {"table": at("table.parquet")}, {"splits": at("splits.parquet")}
    jobs.run(
        "table",
        "table",
        {"source": [at("wine.csv")]},
        {**table, "card": at("card.json")},
        {"spec": plan.table_spec("wine")},
    )
    jobs.run("splits", "splits", table, splits, {"spec": plan.splits_spec([2])}, folds="2")
    data = table | splits
    for test in ("ppi", "g2"):
        params = {"spec": plan.test_spec("wine", test), "folds": parts}
        jobs.run(test, "ci_test", data, {"marginal": at(f"fold-*/{test}.parquet")}, params, test=test)
    for selector, test in (("ppfs", "ppi"), ("hiton-mb", "g2"), ("mrmr", "g2")):
        tested = {"marginal": at(f"fold-*/{test}.parquet")}
        found = {stage: at(f"{selector}/fold-*/{stage}.parquet") for stage in ("grow", "shrink")}
        params = {"spec": plan.method_spec("wine", selector), "folds": parts}
        jobs.run(selector, "grow_shrink", data | tested, found, params, selector=selector)
    one = {"marginal": [at("fold-1of2/ppi.parquet")], **data}
    params = {"spec": plan.method_spec("wine", "ppfs")}
    jobs.run("ppfs grow", "grow", one, {"grow": at("alone.parquet")}, params, selector="ppfs", fold="1of2")
    found = {"marginal": at("fold-*/ppi.parquet")}
    found |= {stage: at(f"ppfs/fold-*/{stage}.parquet") for stage in ("grow", "shrink")}
    outputs = {name: [at(f"ppfs/{name}.parquet")] for name in ("blanket", "by_fold", "answers")}
    params = {"spec": plan.aggregate_spec("wine", "ppfs"), "folds": folds}
    jobs.run("aggregate", "aggregate", found, outputs, params, selector="ppfs")
    inputs = data | {"blankets": [at("ppfs/blanket.parquet")] * 2}
    params = {"spec": plan.evaluate_spec("wine")}
    jobs.run("evaluate", "evaluate", inputs, {"scores": at("scores.parquet")}, params, selector="ppfs")
    return jobs


COUNTS = ("ppi", "g2", "ppfs", "hiton-mb", "mrmr")
SELECT = (*COUNTS, "ppfs grow", "aggregate")


@pytest.mark.parametrize("job", [*SELECT, "splits"])
def test_a_job_of_the_selection_loads_no_package_for_models_or_frames(jobs, job):
    heavy = {"sklearn", "lightgbm", "pandas", "scipy.stats", "joblib", "altair", "jinja2"}
    heavy |= {"pyarrow.dataset", "pyarrow.compute"}
    assert jobs.modules[job] & heavy == set()


@pytest.mark.parametrize("job", ["table", "splits", "ppfs grow", "aggregate", "evaluate"])
def test_a_job_without_tests_loads_no_numba(jobs, job):
    assert "numba" not in jobs.modules[job]


#: Kernels by what they are for. Only those of its own test may a job load, and only so many compiled functions: each
#: costs 3 to 20 ms, while helpers that are compiled into them cost nothing.
TREES = {"trees", "binned_trees", "single_column_trees", "sorted_columns", "signed_rank"}
CELLS = {"contingency", "strata", "chi_square"}
PACKED = {"packed_columns", "packed_information"}
OTHERS = {"thin_contingency", "permutation", "differences", "logistic", "joint_columns", "reachability"}
NOT_FOR = {
    "ppi": (CELLS | PACKED | OTHERS, 6),
    "ppfs": (CELLS - {"chi_square"} | PACKED | OTHERS, 9),  # another test measures what stands in for its members
    "g2": (TREES | PACKED | OTHERS, 5),
    "hiton-mb": (TREES | PACKED | OTHERS, 5),
    "mrmr": (TREES | OTHERS, 15),
}


@pytest.mark.parametrize("job", COUNTS)
def test_a_job_loads_the_kernels_of_its_test_and_few_compiled_functions(jobs, job):
    others, most = NOT_FOR[job]
    loaded = {name.removeprefix("blanketflow.kernels.") for name in jobs.modules[job] if ".kernels." in name}
    assert loaded & others == set()
    assert 0 < len(jobs.compiled[job]) <= most, jobs.compiled[job]


def test_the_jobs_found_something(jobs):
    columns, provenance = read_columns(jobs.at("ppfs/blanket.parquet"))
    assert provenance.status == "ok" and any(columns["chosen"])
