"""Files behind URLs and data sets of OpenML, from a real server on loopback."""

import hashlib
import json
import os
import re
import shutil
import stat
import subprocess
from pathlib import Path

import pytest
from sklearn.externals import _arff

from blanketflow.core.errors import ConfigError, DataError, shown
from blanketflow.data import download as module
from blanketflow.data.card import make_card
from blanketflow.data.download import cache_folder, cached_file
from blanketflow.data.secrets import redacted_spec
from blanketflow.data.sources import read_source, source_files
from blanketflow.workflow.peek import peek
from file_server import FileServer, answer, cut, guarded, redirect, slow
from test_data_sources import assert_agree

CSV = b"x,y\n1,u\n2,v\n3,u\n"
DIGEST = hashlib.sha256(CSV).hexdigest()
OTHER = CSV + b"4,v\n"


@pytest.fixture
def server(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")  # a proxy is not asked for this machine
    with FileServer() as server:
        server.files["/t.csv"] = CSV
        monkeypatch.setenv("BLANKETFLOW_OPENML", server.url)
        yield server


def spec_of(server, path="/t.csv", **more):
    return {"path": server.url + path, "target": "y", **more}


def refused(spec, error, message):
    for look in (lambda: peek("t", spec), lambda: read_source("t", spec, 0)):
        with pytest.raises(error, match=f"(?s)^t: .*{message}") as caught:
            look()
    return str(caught.value)


def test_a_file_is_downloaded_once_and_by_whichever_key(server):
    raw, _ = assert_agree("t", spec_of(server))
    assert raw.features["x"].values.tolist() == [1, 2, 3]
    assert read_source("t", {"source": f"{server.url}/t.csv", "target": "y"}, 0).features.names == ["x"]
    assert server.asked == {"/t.csv": 1}
    (stored,) = source_files("t", spec_of(server))
    assert Path(stored).read_bytes() == CSV and stored.endswith("/t.csv")
    assert stat.S_IMODE(os.stat(os.environ["BLANKETFLOW_CACHE"]).st_mode) == 0o700
    assert raw.notes[-1] == f"downloaded from {server.url}/t.csv, SHA-256 {DIGEST}"
    assert make_card("t", raw, spec_of(server))["source"] == f"{server.url}/t.csv"


def test_formats_and_companions_go_by_url_too(server, tmp_path):
    server.files["/files/m.libsvm"] = b"1 1:2\n0 2:1\n"
    assert assert_agree("t", {"path": f"{server.url}/files/m.libsvm"})[0].features.names == ["f1", "f2"]
    import numpy as np

    np.savez(tmp_path / "m.npz", X=np.eye(3))
    server.files["/m.npz"] = (tmp_path / "m.npz").read_bytes()
    server.files["/labels.csv?v=2"] = b"target\nu\nv\nu\n"
    spec = {"path": f"{server.url}/m.npz", "target_path": f"{server.url}/labels.csv?v=2"}
    assert assert_agree("t", spec)[0].target.levels == ("u", "v")
    assert [file.rpartition("/")[2] for file in source_files("t", spec)] == ["m.npz", "labels.csv"]


def test_a_digest_is_checked_and_a_new_one_fetches_anew(server, tmp_path):
    assert_agree("t", spec_of(server, sha256=DIGEST.upper()))
    server.files["/t.csv"] = OTHER
    assert read_source("t", spec_of(server), 0).features.n_rows == 3  # the server is not asked again
    new = hashlib.sha256(OTHER).hexdigest()
    assert read_source("t", spec_of(server, sha256=new), 0).features.n_rows == 4
    assert refused(spec_of(server, sha256="0" * 64), DataError, f"has the sha256 {new}, but should have 0000")
    (tmp_path / "here.csv").write_bytes(CSV)
    here = {"path": str(tmp_path / "here.csv"), "target": "y"}
    assert_agree("t", here | {"sha256": DIGEST})
    with pytest.raises(DataError, match=f"has the SHA-256 {DIGEST}, but sha256 states {new}"):
        read_source("t", here | {"sha256": new}, 0)
    with pytest.raises(ConfigError, match="sha256 is of a file"):
        read_source("t", {"source": "sklearn:wine", "sha256": new}, 0)


def test_a_changed_file_is_not_taken_for_the_first(server):
    read_source("t", spec_of(server), 0)
    cached_file(f"{server.url}/t.csv").unlink()
    server.files["/t.csv"] = OTHER
    said = refused(spec_of(server), DataError, f"another file than when it was first downloaded.* it was {DIGEST}")
    record = said.rpartition("delete ")[2].rstrip(".")
    assert json.loads(Path(record).read_text())["sha256"] == DIGEST
    os.unlink(record)
    assert read_source("t", spec_of(server), 0).features.n_rows == 4


def test_a_damaged_copy_is_fetched_again(server):
    read_source("t", spec_of(server), 0)
    cached_file(f"{server.url}/t.csv").write_bytes(CSV[:5])
    assert read_source("t", spec_of(server), 0).features.n_rows == 3 and server.asked["/t.csv"] == 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "the server answers 404 Not Found. Check the URL"),
        (lambda handler: answer(handler, b"", 500), "the server answers 500 .*Try again later"),
        (cut(CSV, 1000), "the connection broke after 16 of 1000 bytes"),
        (slow(3), "timed out|no answer"),
        (lambda handler: handler.wfile.write(b"nonsense\r\n\r\n"), "BadStatusLine"),
        (b"<!DOCTYPE html><html>log in</html>", "the answer is a web page"),
        (b"x" * 5000, "it is larger than 0.0 GB. Download it by other means"),
        (redirect("ftp://127.0.0.1/t.csv"), "it leads to ftp://127.0.0.1"),
        (redirect("http://example.org/t.csv"), "it leads to http://example.org"),
        (redirect("file:///etc/passwd"), "url 'file:///etc/passwd' is not allowed"),
    ],
)
def test_what_cannot_be_fetched_is_said_and_nothing_is_left(server, monkeypatch, content, message):
    monkeypatch.setattr(module, "TIMEOUT", 0.5)
    monkeypatch.setattr(module, "MOST_BYTES", 2000)
    server.files["/t.csv"] = content
    refused(spec_of(server), DataError, f"{server.url}/t.csv cannot be downloaded: .*({message})")
    assert not any(path.is_file() for path in cached_file(f"{server.url}/t.csv").parent.iterdir())


def test_a_redirection_on_this_machine_is_followed(server):
    server.files["/moved.csv"] = redirect(f"{server.url}/t.csv")
    assert read_source("t", spec_of(server, "/moved.csv"), 0).features.n_rows == 3


@pytest.mark.skipif(shutil.which("openssl") is None, reason="needs openssl to make a certificate")
def test_https_is_trusted_by_its_certificate_only(server, tmp_path, monkeypatch):
    pem = tmp_path / "both.pem"
    asked = ["req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost"]
    asked += ["-addext", "subjectAltName=DNS:localhost", "-keyout", str(pem), "-out", str(tmp_path / "cert.pem")]
    subprocess.run(["openssl", *asked], check=True, capture_output=True)
    pem.write_text(pem.read_text() + (tmp_path / "cert.pem").read_text())
    with FileServer(pem) as encrypted:
        encrypted.files["/t.csv"] = CSV
        encrypted.files["/weaker.csv"] = redirect(f"{server.url}/t.csv")
        url = encrypted.url.replace("127.0.0.1", "localhost")
        refused({"path": f"{url}/t.csv", "target": "y"}, DataError, "certificate verify failed")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "cert.pem"))
        assert_agree("t", {"path": f"{url}/t.csv", "target": "y"})
        refused({"path": f"{url}/weaker.csv", "target": "y"}, DataError, "it leads to http://127.0.0.1")


def test_a_server_that_is_not_there_and_a_cache_that_cannot_be_written(server, tmp_path, monkeypatch):
    refused({"path": "http://127.0.0.1:9/t.csv", "target": "y"}, DataError, "Connection refused")
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "file"))
    refused(spec_of(server), DataError, "cannot be written .*Set BLANKETFLOW_CACHE")


@pytest.mark.parametrize("url", ["http://example.org/t.csv", "http://127.0.0.1.example.org/t.csv"])
def test_what_is_not_encrypted_is_refused(server, url):
    refused({"path": url, "target": "y"}, ConfigError, "is not encrypted. Write https://")


def test_credentials_come_from_the_environment_and_stay_there(server, monkeypatch):
    server.files["/t.csv"] = guarded(CSV, "me", "s3cr:et@/?")
    url = server.url.replace("//", "//me:${LAB_PASSWORD}@") + "/t.csv"
    spec = {"path": url, "target": "y"}
    refused(spec, ConfigError, "needs the environment variable LAB_PASSWORD, which is not set")
    monkeypatch.setenv("LAB_PASSWORD", "wrong")
    assert "wrong" not in refused(spec, DataError, "401 Unauthorized. Give credentials")
    monkeypatch.setenv("LAB_PASSWORD", "s3cr:et@/?")
    raw = read_source("t", spec, 0)
    assert raw.features.n_rows == 3
    kept = json.dumps(make_card("t", raw, spec)) + Path(f"{cached_file(url)}.json").read_text()
    assert "s3cr" not in kept and "${LAB_PASSWORD}" in kept
    server.files["/away.csv"] = redirect(f"http://localhost:{server.url.rpartition(':')[2]}/t.csv")
    server.headers.clear()
    refused(spec | {"path": url.replace("/t.csv", "/away.csv")}, DataError, "401")
    assert ["Authorization" in headers for headers in server.headers[:2]] == [True, False]


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("path", "https://me:hunter2@example.org/t.csv"),
        ("path", "https://example.org/t.csv?api_key=hunter2&v=1"),
        ("source", "postgresql://me:hunter2@example.org/db"),
        ("source", "unknown://me:hunter2@example.org/db"),
        ("path", "s3://me:hunter2@bucket/t.csv"),
    ],
)
def test_a_password_in_a_config_is_refused_and_not_repeated(server, key, url):
    said = refused({key: url, "target": "y", "query": "SELECT 1"}, ConfigError, "holds a password or token")
    assert "hunter2" not in said and "***" in said and "${NAME}" in said


@pytest.mark.parametrize(
    ("key", "url"),
    [
        ("path", "https://example.org/t.csv?api-key=hunter2"),
        ("path", "https://example.org/t.csv?%61pi_key=hunter2"),
        ("path", "https://example.org/t.csv?pass=hunter2"),
        ("path", "https://example.org/t.csv?auth=hunter2"),
        ("path", "https://example.org/t.csv?access_key=hunter2"),
        ("path", "https://example.org/t.csv;password=hunter2"),
        ("path", "https://example.org/t.csv#token=hunter2"),
        ("path", "https://me:hunter2@[::1/t.csv"),
        ("path", "https://me:pa/hunter2@example.org/t.csv"),
        ("source", "postgresql://me:pa#hunter2@example.org/db"),
        ("source", "mssql+pyodbc:///?odbc_connect=Server%3Dx%3BPWD%3Dhunter2"),
        ("target_path", "https://example.org/y.csv?token=hunter2"),
    ],
)
def test_a_password_is_recognised_in_every_place_of_a_url(server, key, url):
    if key == "target_path":
        server.files["/m.npz"] = b""
        spec = {"path": f"{server.url}/m.npz", key: url}
    else:
        spec = {key: url, "target": "y", "query": "SELECT 1"}
    said = refused(spec, ConfigError, "holds a password or token")
    assert "hunter2" not in said and "***" in said


def secret_url(server, secret):
    """What is no evident password, and passes: a name that may be a token, a signed link, a key, a fragment."""
    query = f"?id=7&key={secret}&X-Amz-Credential={secret}&X-Amz-Signature={secret}"
    server.files[f"/t.csv{query}"] = CSV
    return server.url.replace("//", f"//ghp_{secret}@") + f"/t.csv{query}#{secret}"


def test_what_may_be_a_secret_is_used_and_written_nowhere(server):
    url = secret_url(server, "hunter2")
    spec = {"path": url, "target": "y"}
    raw, _ = assert_agree("t", spec)
    kept = cached_file(url).parents[1]
    told = json.dumps(make_card("t", raw, spec)) + str(list(kept.rglob("*")))
    told += "".join(path.read_text() for path in kept.rglob("*") if path.is_file())
    assert "hunter2" not in told and "***@127.0.0.1" in told and "id=7&key=***" in told
    assert server.headers[0]["Authorization"].startswith("Basic ")


def test_the_next_signature_of_a_link_leads_to_the_same_copy(server):
    (first,) = source_files("t", {"path": secret_url(server, "one"), "target": "y"})
    written = os.stat(first).st_mtime_ns
    (second,) = source_files("t", {"path": secret_url(server, "two"), "target": "y"})
    assert first == second and os.stat(second).st_mtime_ns == written
    Path(first).write_bytes(CSV[:5])
    assert read_source("t", {"path": secret_url(server, "two"), "target": "y"}, 0).features.n_rows == 3


def test_addresses_that_differ_in_what_is_hidden_stay_apart(server):
    server.files |= {"/t.csv?key=1": CSV, "/t.csv?key=2": OTHER}
    specs = [spec_of(server, f"/t.csv?key={key}") for key in (1, 2)]
    tables = [read_source("t", spec, 0) for spec in specs]
    assert [raw.features.n_rows for raw in tables] == [3, 4]
    assert len({tuple(source_files("t", spec)) for spec in specs}) == 2
    assert [raw.features.n_rows for raw in (read_source("t", spec, 0) for spec in specs)] == [3, 4]
    assert server.asked == {"/t.csv?key=1": 1, "/t.csv?key=2": 1}


def test_a_job_reads_the_copies_by_a_spec_without_secrets(server):
    spec = {"path": secret_url(server, "hunter2"), "target": "y"}
    raw, files = read_source("t", spec, 0), source_files("t", spec)
    for asked in (redacted_spec(spec), redacted_spec({"source": spec["path"], "target": "y"})):
        assert "hunter2" not in str(asked) and read_source("t", asked, 0, files).notes == raw.notes
    Path(files[0]).write_bytes(OTHER)
    with pytest.raises(DataError, match=r"downloaded from .*key=\*\*\*.* is damaged"):
        read_source("t", redacted_spec(spec), 0, files)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "404"),
        (lambda handler: handler.wfile.write(f"no {handler.path} here\r\n\r\n".encode()), "BadStatusLine no"),
        (lambda handler: answer(handler, b"<html>", 200), "web page"),
        (redirect("ftp://me:hunter2@127.0.0.1/?hunter2"), "it leads to"),
        (redirect("file://hunter2@h/t?hunter2"), "is not allowed"),
    ],
)
def test_what_a_server_says_is_told_without_secrets(server, content, message):
    url = secret_url(server, "hunter2")
    server.files["/t.csv" + url.partition("/t.csv")[2].partition("#")[0]] = content
    assert "hunter2" not in refused({"path": url, "target": "y"}, DataError, message)


def test_no_url_in_an_error_holds_a_secret():
    said = str(ConfigError("there is no https://me:hunter2@host/t.csv?v=1&key=hunter2. Look"))
    assert said == "there is no https://***@host/t.csv?v=1&key=***. Look"
    assert "hunter2" not in shown(["https://" + "m" * 70 + ":hunter2@host"])


# --- OpenML -----------------------------------------------------------------------------------------------------------


def offer(server, identifier=61, **more):
    """Answer as OpenML does for one data set."""
    labels = ["setosa", "virginica"]
    rows = [[i, 4.9 + i / 10, f"flower {i}", labels[i % 2]] for i in range(12)]
    attributes = [("row", "INTEGER"), ("length", "REAL"), ("label text", "STRING"), ("class", labels)]
    content = _arff.dumps({"relation": "iris", "attributes": attributes, "data": rows}).encode()
    said = {
        "id": str(identifier),
        "name": "iris",
        "version": "1",
        "format": "ARFF",
        "file_id": "4551",
        "url": "https://www.openml.org/data/v1/download/4551/iris.arff",
        "default_target_attribute": "class",
        "row_id_attribute": "row",
        "ignore_attribute": ["label text"],
        "status": "active",
        "md5_checksum": hashlib.md5(content).hexdigest(),
        **more,
    }
    server.files[f"/api/v1/json/data/{identifier}"] = json.dumps({"data_set_description": said}).encode()
    server.files["/data/v1/download/4551"] = content


def test_a_data_set_of_openml(server):
    offer(server)
    raw, _ = assert_agree("iris", {"source": "openml:61"})
    assert raw.features.names == ["length"] and raw.target.name == "class" and raw.features.n_rows == 12
    assert raw.target.levels == ("setosa", "virginica") and "OpenML 61, iris version 1" in raw.notes[-1]
    assert sum(server.asked.values()) == 2
    assert [file.rpartition("/")[2] for file in source_files("iris", {"source": "openml:61"})] == ["4551"]
    assert read_source("iris", {"source": "openml:61", "target": "length"}, 0).task.name == "regression"
    assert read_source("iris", {"source": "openml:61", "groups": "row"}, 0).groups.tolist() == list(range(12))


def test_what_openml_does_not_have_or_not_right(server):
    server.files["/api/v1/json/data/7"] = lambda handler: answer(handler, b'{"error": {"code": "111"}}', 412)
    refused({"source": "openml:7"}, DataError, f"OpenML has no data set 7. Look for it on {server.url}")
    offer(server, 8, md5_checksum="0" * 32)
    refused({"source": "openml:8"}, DataError, "has the md5 .*, but should have 0000")
    offer(server, 9, default_target_attribute="length,class")
    refused({"source": "openml:9"}, ConfigError, "set target")
    server.files["/api/v1/json/data/10"] = b"{}"
    refused({"source": "openml:10"}, DataError, "is not a description of an OpenML data set")


@pytest.mark.parametrize(
    "url",
    [
        "https://../t.csv",
        "https://./t.csv",
        "https://h/..",
        "https://h/%2e%2e%2f%2e%2e%2fetc%2fpasswd",
        "https://h/%00%0a%1b[2J.csv",
        "https://h/" + "x" * 1000,
        "https://" + "h" * 1000 + "/t.csv",
        "https://h/t.csv?to=../../t.csv",
    ],
)
def test_no_url_names_a_file_outside_of_the_cache(url):
    downloads = cache_folder() / "downloads"
    host, key, file = cached_file(url).relative_to(downloads).parts
    assert re.fullmatch("[0-9a-f]{16}", key)
    for part in (host, file):
        assert re.fullmatch(r"[\w.-]{1,100}", part, re.ASCII) and part.strip(".")


def test_labels_on_a_server_are_downloaded_checked_and_noted(server, tmp_path):
    labels = b"id,y\na,u\nb,v\nc,u\n"
    server.files["/labels.csv"], digest = labels, hashlib.sha256(labels).hexdigest()
    (tmp_path / "t.csv").write_text("id,x\na,1\nb,2\nc,3\n", encoding="utf-8")
    of = {"path": f"{server.url}/labels.csv", "by": "id", "target": "y", "sha256": digest}
    spec = {"path": str(tmp_path / "t.csv"), "labels": of}
    raw = read_source("t", spec, 0)
    assert raw.target.levels == ("u", "v")
    assert raw.notes[-1] == f"downloaded from {server.url}/labels.csv, SHA-256 {digest}"
    files = source_files("t", spec)
    assert Path(files[1]).read_bytes() == labels
    assert read_source("t", spec, 0, files).notes == raw.notes
    assert server.asked == {"/labels.csv": 1}
    with pytest.raises(DataError, match="sha256"):
        read_source("t", {**spec, "labels": {**of, "sha256": "0" * 64}}, 0)
