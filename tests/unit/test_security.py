"""No source file runs what it reads: found by ruff's security rules and, for what those do not know, by the syntax."""

import ast
import itertools
import json
import subprocess
import sys
import tokenize
from collections import Counter
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
RUFF = Path(sys.executable).with_name("ruff")
#: What ruff finds and a person has looked at, comments that silence it included: one place each, and why.
LOOKED_AT = {
    ("src/blanketflow/cli/run.py", "S603"): "asks Slurm, by a list of words",
    ("src/blanketflow/cli/progress.py", "S603"): "starts Snakemake, by a list of words",
    ("src/blanketflow/data/download.py", "S310"): "the scheme is checked, also of every redirection",
    ("src/blanketflow/reporting/report/html.py", "S704"): "JSON without a sign of HTML; Vega; our own files",
    ("src/blanketflow/reporting/picture.py", "S704"): "our own tags of SVG; names come in by format",
    ("envs/audit", "S603"): "starts pip-audit, by a list of words",
}
#: Modules that make code of what they read, or hand text to a shell, which ruff does not know all of.
MODULES = {"pickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "pickletools", "pty", "code"}
CALLS = {"compile", "__import__", "yaml.unsafe_load", "yaml.full_load", "yaml.load", "joblib.load"}
#: Where code is imported by its name, and what can name it.
IMPORTERS = {
    "src/blanketflow/__init__.py": "this package's own modules",
    "src/blanketflow/counts/without_rows.py": "this package's own modules, by the id of a CI test",
    "src/blanketflow/core/registry.py": "this package's own modules; 'package.module:Class' of a config",
    "src/blanketflow/kernels/__init__.py": "this package's own modules",
    "src/blanketflow/search/isolated.py": "modules of five packages that are named there",
    "src/blanketflow/selectors/judged/in_time.py": "modules of three packages that are named there",
}
PLANTED = {
    "import pickle": "S403",
    "import shelve": "S403",
    "import pandas as pd\npd.read_pickle('x')": "S301",
    "import marshal\nmarshal.loads(b'')": "S302",
    "eval('1')": "S307",
    "exec('1')": "S102",
    "import yaml\nyaml.load('x', Loader=yaml.Loader)": "S506",
    "import subprocess\nsubprocess.run('ls', shell=True)": "S602",
    "import os\nos.system('ls')": "S605",
    "import os\nos.popen('ls')": "S605",
    "import tempfile\ntempfile.mktemp()": "S306",
    "import xml.etree.ElementTree as ET\nET.parse('x')": "S314",
    "import requests\nrequests.get('https://x', verify=False)": "S501",
    "import hashlib\nhashlib.md5(b'')": "S324",
    "import urllib.request\nurllib.request.urlopen('file:///x')": "S310",
    "import tarfile\ntarfile.open('x').extractall()": "S202",
    "from markupsafe import Markup\nMarkup(x)": "S704",
    "import jinja2\njinja2.Environment()": "S701",
    "import dill": "imports dill",
    "from joblib import Parallel, load": "calls joblib.load",
    "import joblib\njoblib.load('x')": "calls joblib.load",
    "import numpy as np\nnp.load('x')": "numpy.load without allow_pickle=False",
    "import numpy\nnumpy.load('x', allow_pickle=True)": "numpy.load without allow_pickle=False",
    "compile('1', 'x', 'exec')": "calls compile",
    "__import__('os')": "calls __import__",
    "import yaml\nyaml.unsafe_load('x')": "calls yaml.unsafe_load",
    "import yaml\nyaml.full_load('x')": "calls yaml.full_load",
    "from importlib import import_module\nimport_module(x)": "imports by name",
    "import importlib\nimportlib.import_module(x)": "imports by name",
}
SOURCES = sorted(
    path.relative_to(REPO).as_posix() for folder in ("src", "scripts") for path in (REPO / folder).rglob("*.py")
)


def by_ruff(folder, *paths):
    """The file and rule of everything that ruff finds, whatever a comment says of it."""
    # Importing subprocess (S404) and starting a program of the PATH (S607) are no matter by themselves; S101: assert.
    rules = ["--select=S", "--ignore=S404,S607,S101", "--preview", "--ignore-noqa", "--isolated"]
    command = [RUFF, "check", *rules, "--output-format=json", *paths]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode in (0, 1), done.stderr
    found = json.loads(done.stdout)
    return Counter((Path(f["filename"]).relative_to(folder.resolve()).as_posix(), f["code"]) for f in found)


def by_syntax(source):
    """What a file does that ruff does not know to be dangerous."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import | ast.ImportFrom):
            names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [alias.name for alias in node.names]
            yield from (f"imports {root}" for name in names if (root := name.partition(".")[0]) in MODULES)
        if isinstance(node, ast.ImportFrom) and node.module == "joblib" and "load" in [a.name for a in node.names]:
            yield "calls joblib.load"
        if isinstance(node, ast.Call):
            called = ast.unparse(node.func)
            if called in ("np.load", "numpy.load") and not any(
                word.arg == "allow_pickle" and ast.unparse(word.value) == "False" for word in node.keywords
            ):
                yield "numpy.load without allow_pickle=False"
            if called in CALLS:
                yield f"calls {called}"
            if called.rpartition(".")[2] == "import_module":
                yield "imports by name"


def shell_directives(path):
    """The lines of a Snakemake file that hand a text to a shell."""
    with open(path, "rb") as file:
        tokens = [token for token in tokenize.tokenize(file.readline) if token.type != tokenize.COMMENT]
    for token, following in itertools.pairwise(tokens):
        if token.type == tokenize.NAME and token.string == "shell" and following.string in (":", "("):
            yield token.start[0]


def test_what_ruff_finds_has_been_looked_at():
    found = by_ruff(REPO, "src", "scripts", "envs/audit")
    assert set(found) == set(LOOKED_AT)
    assert found.pop(("src/blanketflow/reporting/report/html.py", "S704")) == 3
    assert set(found.values()) == {1}


def test_nothing_else_runs_what_it_reads():
    found = {(path, what) for path in SOURCES for what in by_syntax((REPO / path).read_text("utf-8"))}
    assert found == {(path, "imports by name") for path in IMPORTERS}


def test_no_rule_hands_anything_to_a_shell():
    """Each rule runs a script: no path or wildcard is quoted because none is pasted into a command."""
    files = [REPO / "Snakefile", *sorted((REPO / "rules").glob("*.smk"))]
    assert len(files) > 5
    assert {path.name: list(shell_directives(path)) for path in files} == {path.name: [] for path in files}


@pytest.mark.parametrize("planted", PLANTED)
def test_a_planted_offence_is_found(planted, tmp_path):
    (tmp_path / "planted.py").write_text(f"{planted}\n")
    found = {rule for _, rule in by_ruff(tmp_path, "planted.py")} | set(by_syntax(planted))
    assert PLANTED[planted] in found


@pytest.mark.parametrize("planted", ["rule a:\n    shell:\n        'cat {input}'\n", "run:\n    shell('cat')\n"])
def test_a_planted_shell_is_found(planted, tmp_path):
    (tmp_path / "planted.smk").write_text(planted)
    assert list(shell_directives(tmp_path / "planted.smk")) != []
