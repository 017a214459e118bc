"""A run on a signed link: its secrets stand in no file that the run writes, and the next signature reruns nothing."""

import base64
import gzip
import re
import zlib

import pyarrow.parquet as pq
import pytest

from file_server import FileServer
from workflow_runs import configure, planned, snakemake

pytestmark = [pytest.mark.workflow, pytest.mark.extended]

SECRETS = ("firstS3cret", "nextS3cret")
ROWS = "dose,noise,outcome\n" + "".join(f"{i % 7},{i % 5},{'ill' if i % 7 > 3 else 'well'}\n" for i in range(80))


def config(server, secret):
    query = f"?version=2&key={secret}&X-Amz-Signature={secret}"
    url = server.url.replace("//", f"//ghp_{secret}@") + f"/plain.csv{query}#{secret}"
    server.files[f"/plain.csv{query}"] = ROWS.encode()
    return {
        "datasets": {"web": {"path": url, "target": "outcome"}, "also": {"source": url, "target": "outcome"}},
        "splits": {"evaluation": 2},
        "folds": 0,
        "selectors": {"mrmr": {"method": "mrmr", "n_features": 1}},
        "models": ["tree"],
    }


@pytest.fixture(scope="module")
def run(tmp_path_factory):
    folder = tmp_path_factory.mktemp("secrets")
    with FileServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLANKETFLOW_CACHE", str(folder / "cache"))
        configure(folder, config(server, SECRETS[0]))
        said = snakemake(folder, "--cores", "2", "--printshellcmds", "--show-failed-logs").stdout
        yield folder, server, said


def unpacked(path):
    """A file's bytes, and what is packed in them: gzip as in .json.gz, base64 with or without deflate as in a page."""
    content = path.read_bytes()
    yield content
    if content[:2] == b"\x1f\x8b":
        yield gzip.decompress(content)
    if path.suffix == ".parquet":
        file = pq.ParquetFile(path)
        yield repr((file.metadata.metadata, file.read().to_pydict())).encode()
    for found in re.findall(rb"[A-Za-z0-9+/=_-]{40,}", content):
        for alphabet in (b"+/", b"-_"):
            for padding in (b"", b"=", b"=="):
                try:
                    inner = base64.b64decode(found + padding, altchars=alphabet)
                except ValueError:
                    continue
                yield inner
                for bits in (31, 15, -15):
                    try:
                        yield zlib.decompressobj(bits).decompress(inner)
                    except zlib.error:
                        continue


def test_no_file_and_no_output_of_a_run_holds_a_secret(run):
    folder, _, said = run
    assert "S3cret" not in said
    files = [path for name in ("results", ".snakemake", "cache") for path in (folder / name).rglob("*")]
    assert [str(path) for path in files if "S3cret" in path.name] == []
    names = {path.name for path in files if path.is_file() for part in unpacked(path) if b"S3cret" in part}
    assert names == set()
    assert "key=***" in (folder / "results/provenance.json").read_text()
    assert "key=***" in (folder / "results/data/web/card.json").read_text()
    assert "key=***" in (folder / "results/report.html").read_text()


def test_the_next_signature_reruns_nothing_and_other_bytes_do(run):
    folder, server, _ = run
    configure(folder, config(server, SECRETS[1]))
    assert planned(folder) == []
    changed = config(server, "otherS3cret")
    server.files["/plain.csv?version=2&key=otherS3cret&X-Amz-Signature=otherS3cret"] = (ROWS + "1,1,ill\n").encode()
    configure(folder, changed)
    assert {"table", "report"} <= {rule for rule, _ in planned(folder)}


def test_snakemakes_own_report_holds_no_secret(run):
    folder, server, _ = run
    configure(folder, config(server, SECRETS[0]))
    snakemake(folder, "--report", "own.html")
    assert all(b"S3cret" not in part for part in unpacked(folder / "own.html"))


def test_a_failing_download_is_told_without_its_secret(run):
    folder, server, _ = run
    wrong = config(server, "lostS3cret")
    server.files["/plain.csv?version=2&key=lostS3cret&X-Amz-Signature=lostS3cret"] = None
    configure(folder, wrong)
    outcome = snakemake(folder, "-n", check=False)
    assert outcome.returncode and "the server answers 404" in outcome.stdout and "S3cret" not in outcome.stdout
