"""The workflow beside the library, the same jobs through Snakemake and in one process.

`python -m studies.speed.workflow`.

`library`: the stage functions of all jobs of a config, called one after the other in one process, in Snakemake's order
(suite/jobs.py); start and imports count, once. `snakemake`: the same config by Snakemake on one core and on two. CPU
seconds are user plus system time of all processes. Cores are compared by wall seconds.
"""

from __future__ import annotations

import json
import sys
import tempfile
from pathlib import Path

import yaml

from studies.shared.clock import Spent, command, options
from studies.shared.jobs import REPO, refuse_failures
from studies.shared.record import Record

JOBS = REPO / "studies" / "shared" / "jobs.py"


def configs(is_tiny: bool) -> dict[str, dict]:
    """Return the default config, and one with more work in each job; or one with next to none."""
    if is_tiny:
        tiny = {"datasets": {"wine": {"source": "sklearn:wine"}}, "splits": {"evaluation": 2}, "folds": 2}
        return {"tiny": {**tiny, "selectors": {"all": {"method": "all"}}, "models": ["naive-bayes"]}}
    default = yaml.safe_load((REPO / "config.yaml").read_text())
    heavy = yaml.safe_load((REPO / "config.yaml").read_text())
    heavy["ci_tests"] |= {
        "ppi": {"type": "ppi", "n_repeats": 350},
        "ppi-calibrated": {"type": "ppi", "n_repeats": 350, "significance": "corrected-t"},
    }
    return {"config.yaml": default, "config.yaml with 350 repeats": heavy}


def snakemake(folder: Path, config: Path, cores: int) -> Spent:
    """Run a config in a folder."""
    folder.mkdir(exist_ok=True)
    asked = [sys.executable, "-m", "snakemake", "--snakefile", REPO / "Snakefile", "--directory", folder]
    return command([*asked, "--configfile", config, "--cores", cores, "--quiet", "all"], folder)


def library(folder: Path, config: Path) -> Spent:
    """Run the jobs of a config in one process."""
    folder.mkdir()
    command([sys.executable, JOBS, "plan", config, folder / "jobs.json"], folder)
    return command([sys.executable, JOBS, "run", folder / "jobs.json"], folder)


def main() -> None:
    """Measure, and write workflow.json."""
    parser = options(__doc__)
    parser.add_argument("--repeats", type=int, default=1, help="runs of each (default: 1)")
    chosen = parser.parse_args()
    record = Record("workflow", folder=chosen.results)
    for title, content in configs(chosen.tiny).items():
        for repeat in range(chosen.repeats):
            with tempfile.TemporaryDirectory() as name:
                config = Path(name) / "config.yaml"
                config.write_text(yaml.safe_dump(content))
                direct = library(Path(name) / "library", config)
                jobs = json.loads((Path(name) / "library" / "jobs.json").read_text())
                one, two = (snakemake(Path(name) / f"cores-{n}", config, n) for n in (1, 2))
                for folder in ("library", "cores-1", "cores-2"):
                    refuse_failures(jobs, Path(name) / folder)
                again = snakemake(Path(name) / "cores-2", config, 2)
            case = {"config": title, "run": repeat + 1}
            for package, run in (("blanketflow", direct), ("snakemake", one), ("snakemake, 2 cores", two)):
                facts = {"wall_s": round(run.wall, 1), "peak_mb": round(run.peak_mb)}
                record.add("workflow", package, [run.cpu], **case, facts=facts)
            record.add("cores", "1 core", [one.wall], "wall s", **case)
            speedup = {"speedup": round(one.wall / two.wall, 2)}
            record.add("cores", "2 cores", [two.wall], "wall s", **case, facts=speedup)
            record.add("nothing to do", "snakemake", [again.cpu], **case, facts={"wall_s": round(again.wall, 2)})


if __name__ == "__main__":
    main()
