"""Data sets and results in a bucket, on a real S3 server of this machine."""

import re
import shutil
from pathlib import Path

import boto3
import numpy as np
import pytest
from moto.server import ThreadedMotoServer

from blanketflow.core.errors import DataError
from blanketflow.data.sources import read_source
from workflow_runs import (
    WITHOUT_REPORT,
    assert_equal_results,
    changed,
    columns,
    configure,
    contents,
    counts,
    planned,
    provenance,
    ran,
    snakemake,
)

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

URL = "s3://lab/cohort.csv"
CONFIG = {
    "datasets": {"cohort": {"path": URL, "target": "outcome"}},
    "splits": {"evaluation": 0},
    "folds": 2,
    "ci_tests": {"quick": {"type": "ppi", "n_repeats": 5}},
    "selectors": {"ppfs": {"method": "ppfs", "ci_test": "quick"}},
    "models": ["tree"],
}
REMOTE = ("--default-storage-provider", "s3", "--default-storage-prefix", "s3://lab/study")


@pytest.fixture(scope="module")
def bucket():
    """A bucket of a server on loopback, and the environment variables that Snakemake finds it by."""
    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("AWS_ACCESS_KEY_ID", "somebody")
        patch.setenv("AWS_SECRET_ACCESS_KEY", "something")
        patch.setenv("AWS_EC2_METADATA_DISABLED", "true")  # no search for credentials outside this machine
        patch.setenv("SNAKEMAKE_STORAGE_S3_ENDPOINT_URL", f"http://{host}:{port}")
        found = boto3.resource("s3", endpoint_url=f"http://{host}:{port}", region_name="us-east-1").Bucket("lab")
        found.create()
        yield found
    server.stop()


def cohort(seed=0):
    rng = np.random.default_rng(seed)
    outcome = rng.integers(0, 2, 150)
    rows = [f"{'high' if y else 'low'},{rng.normal(y):.3f},{rng.normal():.3f},{y}" for y in outcome]
    return "dose,age,noise,outcome\n" + "\n".join(rows) + "\n"


def with_path(path):
    return {**CONFIG, "datasets": {"cohort": {"path": path, "target": "outcome"}}}


def as_from(found, path):
    """Results of a run as they would be if the data set had another path, which the tables state."""
    stated = re.compile(r'"path": ?"[^"]*"'.replace('"', r"\\*\""))
    derived = re.compile(r"'(checksum|inputs)': '[^']*'")
    return {name: stated.sub(f'"path":"{path}"', derived.sub("", text)) for name, text in found.items()}


def downloaded(bucket, prefix, folder):
    for item in bucket.objects.filter(Prefix=prefix):
        to = folder / item.key.removeprefix(prefix)
        to.parent.mkdir(parents=True, exist_ok=True)
        bucket.download_file(item.key, str(to))
    return contents(folder)


@pytest.fixture(scope="module")
def local(tmp_path_factory):
    """A run in which everything is on this machine."""
    folder = configure(tmp_path_factory.mktemp("local"), with_path("cohort.csv"))
    (folder / "cohort.csv").write_text(cohort(), encoding="utf-8")
    snakemake(folder, "--cores", "2", *WITHOUT_REPORT)
    return contents(folder / "results")


@pytest.fixture(scope="module")
def fetched(tmp_path_factory, bucket):
    """A run whose data set is in the bucket."""
    bucket.put_object(Key="cohort.csv", Body=cohort().encode())
    folder = configure(tmp_path_factory.mktemp("fetched"), CONFIG)
    snakemake(folder, "--cores", "2")
    return folder


@pytest.fixture(scope="module")
def remote(tmp_path_factory, bucket, fetched):
    """A run whose data set and results are in the bucket."""
    folder = configure(tmp_path_factory.mktemp("remote"), CONFIG)
    snakemake(folder, "--cores", "2", *REMOTE)
    return folder


def test_a_data_set_in_a_bucket_gives_the_results_of_a_file(fetched, local):
    found = contents(fetched / "results")
    assert URL in found["tables/scores.parquet"] and URL not in found["data/cohort/table.parquet"]
    assert_equal_results(as_from(found, "any"), as_from(local, "any"))
    assert planned(fetched) == []


def test_an_uploaded_object_of_equal_content_reruns_nothing(fetched, bucket, tmp_path):
    folder = shutil.copytree(fetched, tmp_path / "copy")
    bucket.put_object(Key="cohort.csv", Body=cohort().encode())
    assert planned(folder) == []


def test_a_changed_object_reruns_what_depends_on_it(fetched, bucket, tmp_path):
    folder = shutil.copytree(fetched, tmp_path / "copy")
    bucket.put_object(Key="cohort.csv", Body=cohort(seed=1).encode())
    try:
        listed = counts(planned(folder))
        assert listed["table"] == 1 and listed["ci_test_dataset_2"] == 1 and listed["report"] == 1
        ran(folder, "results/data/cohort/table.parquet")
        (tmp_path / "other.csv").write_text(cohort(seed=1), encoding="utf-8")
        other = np.genfromtxt(tmp_path / "other.csv", delimiter=",", names=True)["age"]
        assert columns(folder / "results/data/cohort/table.parquet")["age"] == other.tolist()
    finally:
        bucket.put_object(Key="cohort.csv", Body=cohort().encode())


def test_results_in_a_bucket_are_those_of_a_local_run(remote, fetched, bucket, tmp_path):
    assert_equal_results(downloaded(bucket, "study/results/", tmp_path), contents(fetched / "results"))
    assert not (remote / "results").exists()
    assert {"report.html", "provenance.json"} <= {path.name for path in tmp_path.iterdir()}
    assert planned(remote, *REMOTE) == []


def test_another_folder_finds_the_results_of_the_bucket(remote, tmp_path):
    assert planned(configure(tmp_path, CONFIG), *REMOTE) == []


def test_results_in_a_bucket_of_a_file_of_this_machine(bucket, local, tmp_path):
    """A path means what it says, whatever the default storage is."""
    folder = configure(tmp_path / "run", with_path("cohort.csv"))
    (folder / "cohort.csv").write_text(cohort(), encoding="utf-8")
    prefix = [*REMOTE[:-1], "s3://lab/of-a-file"]
    wanted = "results/select/cohort/full/ppfs/blanket.parquet"
    snakemake(folder, "--cores", "2", *prefix, wanted)
    found = downloaded(bucket, "of-a-file/results/", tmp_path / "found")
    assert wanted.removeprefix("results/") in found
    assert_equal_results(found, {path: local[path] for path in found})


def test_a_changed_setting_reruns_what_depends_on_it_there_too(remote, tmp_path, bucket):
    """Also ci_test, which elsewhere extends its earlier file."""
    folder = changed(remote, tmp_path / "copy", lambda c: c["ci_tests"]["quick"].update(n_repeats=7))
    listed = counts(planned(folder, *REMOTE))
    assert listed["ci_test_dataset_2"] == 1 and "table" not in listed and "splits" not in listed
    key = "results/ci_test/cohort/full/fold-1of2/quick.parquet"
    snakemake(folder, "--cores", "2", *REMOTE, key)
    bucket.download_file(f"study/{key}", str(tmp_path / "marginal.parquet"))
    assert '"n_repeats":7' in provenance(tmp_path / "marginal.parquet")["spec"]


def refusal(folder, config, monkeypatch, **variables):
    for name, value in variables.items():
        monkeypatch.setenv(name, value) if value else monkeypatch.delenv(name)
    outcome = snakemake(configure(folder, config), "-n", check=False)
    assert outcome.returncode != 0 and "Traceback" not in outcome.stdout
    return outcome.stdout


def test_a_missing_object_is_refused_by_name(bucket, tmp_path, monkeypatch):
    said = refusal(tmp_path, with_path("s3://lab/cohrt.csv"), monkeypatch)
    assert "cohort: there is no s3://lab/cohrt.csv. Check the key path." in said


def test_missing_credentials_are_named(bucket, tmp_path, monkeypatch):
    nobody = {"AWS_ACCESS_KEY_ID": None, "AWS_SECRET_ACCESS_KEY": None, "HOME": str(tmp_path)}
    said = refusal(tmp_path, CONFIG, monkeypatch, **nobody)
    assert f"cohort: {URL} cannot be fetched" in said and "Unable to locate credentials" in said
    assert "docs/object-storage.md" in said


def test_a_missing_plugin_is_named(bucket, tmp_path, monkeypatch):
    said = refusal(tmp_path, with_path("nowhere://lab/cohort.csv"), monkeypatch)
    assert (
        "cohort: nowhere://lab/cohort.csv cannot be fetched" in said and "install the required storage plugin" in said
    )


def test_the_library_says_that_it_reads_files_only():
    with pytest.raises(DataError, match=f"^cohort: {URL} is in object storage, which only the workflow reads"):
        read_source("cohort", CONFIG["datasets"]["cohort"], seed=0)


def test_a_matrix_and_its_target_are_fetched_both(bucket, tmp_path):
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    np.savez(tmp_path / "matrix.npz", X=np.column_stack([rng.normal(size=120), rng.normal(y)]))
    bucket.upload_file(str(tmp_path / "matrix.npz"), "matrix.npz")
    bucket.put_object(Key="labels.csv", Body=("target\n" + "\n".join(f"class-{label}" for label in y)).encode())
    spec = {"path": "s3://lab/matrix.npz", "target_path": "s3://lab/labels.csv"}
    folder = configure(tmp_path / "run", {**CONFIG, "datasets": {"matrix": spec}})
    snakemake(folder, "--cores", "1", "results/data/matrix/table.parquet")
    assert columns(folder / "results/data/matrix/table.parquet")["target"] == [f"class-{label}" for label in y]
    assert Path(folder / ".snakemake/storage/s3/lab/labels.csv").is_file()


@pytest.mark.parametrize("path", ["cohort.csv", URL])
def test_labels_in_a_bucket(bucket, tmp_path, path):
    """The labels of samples are fetched, and fetched again if they change."""
    rows = [line.rsplit(",", 1) for line in cohort().splitlines()[1:]]
    table = "id,dose,age,noise\n" + "".join(f"s{at},{row}\n" for at, (row, _) in enumerate(rows))
    labels = "id,outcome\n" + "".join(f"s{at},{label}\n" for at, (_, label) in enumerate(rows))
    bucket.put_object(Key="labels.csv", Body=labels.encode())
    bucket.put_object(Key="cohort.csv", Body=table.encode())
    asked = {"path": path, "labels": {"path": "s3://lab/labels.csv", "by": "id", "target": "outcome"}}
    folder = configure(tmp_path, {**CONFIG, "datasets": {"cohort": asked}})
    (folder / "cohort.csv").write_text(table, encoding="utf-8")
    try:
        ran(folder, "results/data/cohort/table.parquet")
        held = columns(folder / "results/data/cohort/table.parquet")
        assert (
            held["outcome"] == [label for _, label in rows]
            and planned(folder, "results/data/cohort/table.parquet") == []
        )
        bucket.put_object(Key="labels.csv", Body=labels.replace("s0,", "s0x,").encode())
        ran(folder, "results/data/cohort/table.parquet")
        assert len(columns(folder / "results/data/cohort/table.parquet")["outcome"]) == len(rows) - 1
    finally:
        bucket.put_object(Key="cohort.csv", Body=cohort().encode())
