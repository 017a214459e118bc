"""`make audit` and `make sbom`: what they say of a finding, of no answer and of a service that knows nothing."""

import json
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

import blanketflow
from file_server import FileServer, answer

REPO = Path(__file__).parents[2]
PROGRAMS = Path(os.environ.get("BLANKETFLOW_AUDIT_PROGRAMS") or Path(sys.executable).parent)
needs_audit = pytest.mark.skipif(
    not (PROGRAMS / "pip-audit").is_file() or not (PROGRAMS / "cyclonedx-py").is_file(),
    reason="pip-audit and cyclonedx-py are not installed: make setup-audit",
)
#: As the service of osv.dev answers: https://google.github.io/osv.dev/post-v1-query/
FINDING = {
    "id": "PYSEC-1",
    "summary": "It lets in.",
    "affected": [
        {
            "package": {"name": "numpy", "ecosystem": "PyPI"},
            "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "99.0"}]}],
        }
    ],
}


def service(known):
    """Answer what is known of a package, as the OSV service does."""

    def respond(handler):
        asked = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        found = known.get(asked["package"]["name"])
        answer(handler, json.dumps({"vulns": found} if found else {}).encode())

    return respond


def audit(url):
    command = [REPO / "envs" / "audit", PROGRAMS, "--vulnerability-service=osv", f"--osv-url={url}", "--timeout=5"]
    return subprocess.run(command, capture_output=True, text=True)


@pytest.mark.extended  # in continuous integration these come after what installs the programs
@needs_audit
def test_a_finding_is_named_with_its_way_out_and_fails():
    with FileServer() as server:
        server.files["/"] = service({"numpy": [FINDING]})
        done = audit(f"{server.url}/")
    assert done.returncode == 1, done.stderr
    assert re.search(r"^audit: numpy \S+: PYSEC-1, mended in 99\.0$", done.stdout, re.MULTILINE)


@pytest.mark.extended
@needs_audit
def test_no_finding_says_how_many_packages_were_looked_up():
    with FileServer() as server:
        server.files["/"] = service({})
        done = audit(f"{server.url}/")
        assert server.asked["/"] > 150
    assert done.returncode == 0, done.stderr
    n_locks = len(list((REPO / "envs").glob("*.lock")))
    assert re.search(rf"no known vulnerability\naudit: \d{{3}} packages of {n_locks} locks looked up", done.stdout)


@pytest.mark.extended
@needs_audit
def test_without_an_answer_it_is_skipped_and_says_why():
    with FileServer() as server:
        url = server.url
    done = audit(f"{url}/")  # nobody listens there any more
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("audit: skipped: the vulnerability service is not reachable")


@pytest.mark.extended
@needs_audit
def test_a_service_that_fails_is_a_failure():
    with FileServer() as server:
        server.files["/"] = lambda handler: answer(handler, b"broken", 500)
        done = audit(f"{server.url}/")
    assert done.returncode == 1
    assert "skipped" not in done.stdout


@pytest.mark.extended
@needs_audit
def test_the_bill_of_materials_is_the_lock_and_always_the_same(tmp_path):
    files = [tmp_path / "a.json", tmp_path / "b.json"]
    environment = {key: value for key, value in os.environ.items() if key != "SOURCE_DATE_EPOCH"}
    for file in files:
        subprocess.run([REPO / "envs" / "make-sbom", PROGRAMS, file], check=True, capture_output=True, env=environment)
    assert files[0].read_bytes() == files[1].read_bytes()
    found = json.loads(files[0].read_text("utf-8"))
    locked = re.findall(r"^(\S+)==(\S+)", (REPO / "envs" / "requirements.lock").read_text("utf-8"), re.MULTILINE)
    assert {(part["name"], part["version"]) for part in found["components"]} == set(locked)
    assert all(part["externalReferences"][0]["hashes"] for part in found["components"])
    assert found["metadata"]["component"]["version"] == blanketflow.__version__
    assert str(REPO) not in files[0].read_text("utf-8")


def test_everything_is_installed_from_the_locks():
    """pip wants hashes of all as soon as it sees one; what is installed otherwise is the project itself."""
    for file in ("Makefile", "envs/create-venv", "envs/fill-image", "Dockerfile", "envs/blanketflow.def", ".ci/run"):
        for line in (REPO / file).read_text("utf-8").splitlines():
            if re.search(r"\bpip install\b", line) and not line.lstrip().startswith("#"):
                assert re.search(r"-r \S+\.lock|--no-deps (-e )?\.|--no-deps \S*$", line), f"{file}: {line}"
