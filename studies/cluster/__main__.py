"""What Slurm costs: one config on one core, two, and on Slurm by jobs, arrays, groups and larger jobs, wall seconds.

    tests/cluster/lab/run .venv/bin/python -m studies.cluster     (on a Slurm of its own: root on Debian)
    python -m studies.cluster --account mine --partition main     (on a real cluster)

The config, the arrays and the groups are those of tests/cluster/test_slurm.py: a job works on all folds of a split, but
in the last row, where the profile's `job_seconds` joins the splits too. `overhead` is what Slurm says that its
jobs lasted beyond what the rules inside took, by the job: starting Snakemake twice, and reading the plan.
"""

from __future__ import annotations

import re
import subprocess
import sys
import tempfile
from pathlib import Path

import yaml

from studies.shared.clock import Spent, command, options
from studies.shared.jobs import REPO
from studies.shared.record import Record

CONFIG = {
    "datasets": {"wine": {"source": "sklearn:wine"}, "clinic": {"source": "simulate:clinic", "rows": 200}},
    "splits": {"evaluation": 2, "final": False},
    "folds": 2,
    "grain": "split",
    "ci_tests": {"ppi": {"type": "ppi", "n_repeats": 5}, "g2": {"type": "g2", "bins": 3}},
    "selectors": {"ppfs": {"method": "ppfs", "ci_test": "ppi"}, "gs": {"method": "gs", "ci_test": "g2"}},
    "models": ["naive-bayes"],
}
#: The least that has every stage but evaluation.
TINY = {
    "datasets": {"wine": {"source": "sklearn:wine"}},
    "splits": {"evaluation": 0},
    "selectors": {"all": {"method": "all"}},
}
STAGES = ("ci_test_2", "grow_shrink_2", "evaluate")
ARRAYS = (
    *("--slurm-array-jobs", ",".join(STAGES), "--slurm-array-limit", "40", "--jobs", "1000000"),
    *("--max-jobs-per-timespan", "1000000/1s"),
)
GROUPS = (
    *("--groups", "ci_test_2=select", "grow_shrink_2=select", "evaluate=judge"),
    *("--group-components", "select=3", "judge=3", "--cores", "2", "--resources", "mem_mb=4000"),
)
JOINED = {**CONFIG, "grain": "auto"}


def run(folder: Path, config: dict, *arguments: str | Path) -> Spent:
    """Run a config in a folder of its own."""
    folder.mkdir()
    (folder / "my.yaml").write_text(yaml.safe_dump(config))
    asked = [sys.executable, "-m", "snakemake", "--snakefile", REPO / "Snakefile", "--configfile", "my.yaml"]
    return command([*asked, *arguments], folder)


def profile(folder: Path, account: str, partition: str) -> Path:
    """Write profiles/slurm with account and partition."""
    text = (REPO / "profiles" / "slurm" / "config.yaml").read_text()
    (folder / "profile").mkdir()
    filled = text.replace("YOUR_ACCOUNT", account).replace("YOUR_PARTITION", partition)
    (folder / "profile" / "config.yaml").write_text(filled)
    return folder / "profile"


def work(folder: Path) -> float:
    """Return the seconds that the rules of a run took, as Snakemake measured them."""
    files = (folder / "results" / "benchmarks").rglob("*.tsv")
    return sum(float(file.read_text().splitlines()[1].split("\t")[0]) for file in files)


def in_slurm(folder: Path) -> tuple[int, float]:
    """Return how many Slurm jobs a run had, and how many seconds they lasted in all."""
    log = next((folder / ".snakemake" / "log").glob("*.log")).read_text()
    run_id = re.search(r"SLURM run ID: (\S+)", log)[1]
    asked = ["sacct", "-X", "--noheader", "--format=ElapsedRaw", f"--name={run_id}"]
    lasted = subprocess.run(asked, check=True, capture_output=True, text=True).stdout.split()
    return len(lasted), float(sum(map(int, lasted)))


def main() -> None:
    """Measure, and write cluster.json."""
    parser = options(__doc__)
    parser.add_argument("--account", default="analysis", help="Slurm account (default: the lab's)")
    parser.add_argument("--partition", default="main", help="Slurm partition (default: the lab's)")
    chosen = parser.parse_args()
    record = Record("cluster", peers=["snakemake-executor-plugin-slurm"], folder=chosen.results)
    # Nodes of a cluster see the folder of the run, not this machine's /tmp.
    with tempfile.TemporaryDirectory(dir=Path.cwd(), prefix=".cluster-") as name:
        top = Path(name)
        slurm = ("--profile", profile(top, chosen.account, chosen.partition))
        ways = {"1 core": ("--cores", "1"), "2 cores": ("--cores", "2")}
        ways |= {"Slurm": slurm, "Slurm, arrays": (*slurm, *ARRAYS), "Slurm, groups": (*slurm, *GROUPS)}
        for number, (way, arguments) in enumerate([*ways.items(), ("Slurm, job_seconds: 300", slurm)]):
            folder, config = top / str(number), JOINED if "job_seconds" in way else CONFIG
            spent = run(folder, TINY if chosen.tiny else config, *arguments)
            facts = {"rules_s": round(work(folder), 1)}
            if way.startswith("Slurm"):
                jobs, lasted = in_slurm(folder)
                facts |= {
                    "slurm_jobs": jobs,
                    "lasted_s": lasted,
                    "overhead_s": round((lasted - facts["rules_s"]) / jobs, 1),
                }
            record.add(
                "walls",
                way,
                [spent.wall],
                "wall s",
                config="one data set" if chosen.tiny else "two data sets",
                facts=facts,
            )


if __name__ == "__main__":
    main()
