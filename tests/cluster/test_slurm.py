"""One config on this machine, on Slurm with arrays, and on Slurm in groups: equal results, as asked for."""

import re
import sys

import psutil
import pytest
from slurm_runs import QUICK, accounted, fill_in, names, on_slurm, slurm

from test_wheel import blanketflow, installed, wheel  # noqa: F401 - fixtures
from workflow_runs import PROJECT, assert_equal_results, configure, contents, snakemake

sys.path.insert(0, str(PROJECT))
from studies.cluster.__main__ import ARRAYS, CONFIG, GROUPS, JOINED, STAGES

# Two threads for one rule, to see that Slurm is asked for them.
THREADS = ("--set-threads", "tables=2")
# A test on the counts of four blocks of rows, whose searches are like all others.
SHARDED = {
    "datasets": {"wine": {"source": "sklearn:wine", "shards": 4}},
    "splits": {"evaluation": 0},
    "folds": 0,
    "selectors": {"jmi": {"method": "jmi", "n_features": 4}},
    "models": ["naive-bayes"],
}


@pytest.fixture(scope="module")
def here(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("here"), CONFIG)
    snakemake(folder, "--cores", "2")
    return contents(folder / "results")


@pytest.fixture(scope="module")
def one_table(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("one-table"), of_one_table(CONFIG))
    snakemake(folder, "--cores", "2")
    return contents(folder / "results")


@pytest.fixture(scope="module")
def with_arrays(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("arrays"), CONFIG)
    return folder, on_slurm(folder, *ARRAYS, *THREADS)


@pytest.fixture(scope="module")
def in_groups(tmp_path_factory):
    folder = configure(tmp_path_factory.mktemp("groups"), of_one_table(CONFIG))
    return folder, on_slurm(folder, *GROUPS)


@pytest.fixture(scope="module")
def in_larger_jobs(tmp_path_factory, installed):  # noqa: F811
    """A project that the installed wheel deployed: nothing of it comes from the clone."""
    place = tmp_path_factory.mktemp("larger")
    done = blanketflow(installed, place, "deploy", "project", "--slurm")
    assert done.returncode == 0 and "blanketflow run --profile slurm" in done.stdout, done.stdout
    folder = configure(place / "project", of_one_table(JOINED))
    (folder / "my.yaml").rename(folder / "config.yaml")
    fill_in(folder / "profiles/slurm/config.yaml")
    done = blanketflow(installed, folder, "run", "--plain", "--profile", "slurm", *QUICK)
    (folder / "log").write_text(done.stdout, encoding="utf-8")
    assert done.returncode == 0, done.stdout
    return folder, done.stdout


def of_one_table(config):
    """A config of fewer jobs: Slurm and Snakemake take longer for each than its work does."""
    return config | {"datasets": {"wine": config["datasets"]["wine"]}}


def asked_in(printed):
    """What Snakemake says that each job asks for, by the comment that Slurm has of it."""
    found = {}
    for rule, entry in re.findall(r"^rule (\w+):\n((?: {4}.*\n)*)", printed, re.MULTILINE):
        values = re.search(r"^    wildcards: (.*)$", entry, re.MULTILINE)
        wildcards = "_".join(item.split("=")[1] for item in values[1].split(", ")) if values else ""
        threads = re.search(r"^    threads: (\d+)$", entry, re.MULTILINE)
        resources = dict(item.split("=", 1) for item in re.search(r"resources: (.*)$", entry)[1].split(", "))
        comment = f"rule_{rule}" + (f"_wildcards_{wildcards}" if wildcards else "")
        found[comment] = {**resources, "threads": threads[1] if threads else "1"}
    return found


def test_slurm_with_arrays_gives_what_this_machine_gives(with_arrays, here):
    folder, _ = with_arrays
    assert_equal_results(contents(folder / "results"), here)


def test_slurm_in_groups_gives_what_this_machine_gives(in_groups, one_table):
    folder, _ = in_groups
    assert_equal_results(contents(folder / "results"), one_table)


def test_the_wheel_s_profile_joins_the_work_of_all_splits_into_few_jobs(in_larger_jobs, with_arrays, one_table):
    folder, printed = in_larger_jobs
    assert_equal_results(contents(folder / "results"), one_table)
    assert "rule several_selectors_1:" in printed and "rule grow_shrink_2:" not in printed
    of_wine = [job for job in accounted(with_arrays[0]) if "clinic" not in job["Comment"]]
    assert len(accounted(folder)) < len(of_wine)


def test_the_select_stages_went_as_arrays(with_arrays):
    folder, printed = with_arrays
    arrays = {job["JobID"].split("_")[0] for job in accounted(folder) if "_" in job["JobID"]}
    assert len(arrays) == printed.count("Submitted array job") >= len(STAGES)
    assert [job for job in accounted(folder) if job["State"] != "COMPLETED"] == []


def test_jobs_carry_what_snakemake_asks_for(with_arrays):
    folder, printed = with_arrays
    asked = asked_in(printed)
    alone = {job["Comment"]: job for job in accounted(folder) if "_" not in job["JobID"]}
    assert {"rule_tables", "rule_report", "rule_table_wildcards_wine"} <= alone.keys()
    for comment, job in alone.items():
        wanted = asked[comment]
        assert job["JobName"] == names(folder)[0] and job["JobName"].startswith("blanketflow_")
        assert (job["Account"], job["Partition"]) == ("analysis", "main")
        assert job["ReqMem"] == f"{wanted['mem_mb']}M"
        assert (job["TimelimitRaw"], job["ReqCPUS"]) == (wanted["runtime"], wanted["threads"])
    assert alone["rule_tables"]["ReqCPUS"] == "2"


def test_groups_are_few_jobs_of_the_cores_that_are_given(in_groups):
    folder, _ = in_groups
    groups = [job for job in accounted(folder) if job["Comment"].startswith("rule_select")]
    assert 1 <= len(groups) <= 4
    assert {job["ReqCPUS"] for job in groups} == {"2"}


def test_shards_are_counted_by_jobs_of_their_own_and_change_no_result(tmp_path):
    here, folder = (configure(tmp_path / name, SHARDED) for name in ("here", "slurm"))
    snakemake(here, "--cores", "2", "--until", "ci_test")
    on_slurm(folder, "--until", "ci_test")
    assert_equal_results(contents(folder / "results"), contents(here / "results"))
    ran = [job for job in accounted(folder) if job["Comment"].startswith("rule_count_shard")]
    assert [job["State"] for job in ran] == ["COMPLETED"] * 4
    assert len({job["JobID"] for job in ran}) == len({job["Comment"] for job in ran}) == 4


def test_logs_are_where_the_docs_say(with_arrays):
    folder, _ = with_arrays
    assert (folder / "logs/slurm").is_dir()
    assert (folder / "results/logs/tables.log").is_file() and (folder / "results/report.html").is_file()
    said = (PROJECT / "docs/cluster.md").read_text(encoding="utf-8")
    assert "`logs/slurm/" in said and "`results/logs/" in said


def test_an_account_that_is_not_known_is_said_at_once(tmp_path):
    folder = configure(tmp_path, CONFIG)
    other = ("--default-resources", "slurm_account=nobody", "slurm_partition=main", "--retries", "0")
    printed = on_slurm(folder, *other, "--", "results/data/wine/table.parquet", check=False)
    assert "The given account nobody appears to be invalid" in printed and "analysis" in printed


def test_the_lab_listens_on_loopback_only(lab):
    running = [psutil.Process(int(file.read_text())) for file in (lab / "pid").iterdir()]
    listening = [c for p in running for c in p.net_connections("inet") if c.status == psutil.CONN_LISTEN]
    assert len(listening) >= 5
    assert all(connection.laddr.ip.startswith("127.") for connection in listening)
    assert "UP" in slurm("scontrol", "ping")
