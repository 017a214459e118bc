"""A file format of another package: in Python, on the command line and in a run, and what runs again with its code."""

import os
import re
import subprocess
import sys

import numpy as np
import pytest
from jsonschema import validate

from blanketflow.config.keys import DATASET
from blanketflow.core.errors import ConfigError, DataError, ParameterError
from blanketflow.core.formats import FORMATS, find_format, known_formats
from blanketflow.data.columns import names_of
from blanketflow.data.formats.loaded import read_file
from blanketflow.data.sources import locate, read_source
from blanketflow.workflow.digest import code_digest
from blanketflow.workflow.peek import peek
from workflow_runs import PROJECT, blanketflow, columns, configure, environment, snakemake

PAGE = (PROJECT / "docs/extending.md").read_text(encoding="utf-8")
(READER,) = re.findall(r"^```python\n# my_readers\.py\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
(POINTS,) = re.findall(r"^```toml\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
ENTRIES = POINTS.replace('"', "").replace("[project.entry-points.", "[")


def install(folder, name="my_readers", reader=READER, entries=ENTRIES):
    """Install a package as pip does: its module, and beside it what it registers."""
    (folder / f"{name}-1.0.dist-info").mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.py").write_text(reader, encoding="utf-8")
    (folder / f"{name}-1.0.dist-info/METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (folder / f"{name}-1.0.dist-info/entry_points.txt").write_text(entries, encoding="utf-8")
    return folder


def write_table(path, n=60, seed=0):
    rng = np.random.default_rng(seed)
    a, b = rng.integers(0, 9, n), rng.integers(0, 9, n)
    rows = [("height", "weight", "y"), *zip(a, b, np.where(a > 4, "tall", "small"), strict=True)]
    path.write_text("".join(f"{x!s:8}{y!s:8}{z!s:6}\n" for x, y, z in rows), encoding="utf-8")
    return a, b


@pytest.fixture
def site(tmp_path, monkeypatch):
    folder = install(tmp_path / "site")
    monkeypatch.syspath_prepend(folder)
    yield folder
    sys.modules.pop("my_readers", None)


def test_a_file_of_a_registered_format_is_recognised_and_read(site, tmp_path):
    a, b = write_table(tmp_path / "t.fwf")
    spec = {"path": str(tmp_path / "t.fwf"), "target": "y"}
    for asked in ({}, {"format": "fwf"}, {"format": "my_readers:FWF"}, {"encoding": "latin-1"}):
        raw = read_source("t", spec | asked, 0)
        assert raw.features["height"].values.tolist() == a.tolist()
        assert raw.features["weight"].values.tolist() == b.tolist()
        assert peek("t", spec | asked).class_counts == {"small": np.sum(a <= 4), "tall": np.sum(a > 4)}
    assert locate("t", spec).kind == "fwf" and known_formats() == [*FORMATS, "fwf"]
    with pytest.raises(ConfigError, match=r"^t: sep is for tables of text such as CSV, and .* is of the format fwf"):
        read_source("t", spec | {"sep": ","}, 0)


def test_a_config_may_name_it_and_is_told_all_that_are_known(site):
    _, parameter = DATASET["format"]
    for known in ("fwf", "my_readers:FWF", "csv", None):
        parameter.check("t", "format", known)
    with pytest.raises(ParameterError, match=r"^t: format is 'fw', but must be one of csv, .*, sqlite, fwf or null\."):
        parameter.check("t", "format", "fw")
    with pytest.raises(ParameterError, match="format is 3"):
        parameter.check("t", "format", 3)
    validate({"format": "fwf"}, {"properties": {"format": parameter.schema()}})


def test_without_the_package_it_is_named_by_its_class_or_unknown(tmp_path):
    write_table(tmp_path / "t.fwf")
    spec = {"path": str(tmp_path / "t.fwf"), "target": "y", "format": "fwf"}
    with pytest.raises(ConfigError, match=r"^t: format is 'fwf'\. Known: arff, .*, xport\.$"):
        read_source("t", spec, 0)
    with pytest.raises(ConfigError, match=r"^t: 'no_such_module:FWF' cannot be imported"):
        read_source("t", spec | {"format": "no_such_module:FWF"}, 0)
    with pytest.raises(ConfigError, match=r"^t: 'math:pi' is not a Format of blanketflow.plugins"):
        read_source("t", spec | {"format": "math:pi"}, 0)


def test_whatever_a_reader_raises_is_said_of_the_file(tmp_path, monkeypatch):
    reader = READER.replace("    return", "    raise ZeroDivisionError('odd bytes.\\nmore')\n    return")
    monkeypatch.syspath_prepend(install(tmp_path / "site", "failing", reader, ENTRIES.replace("my_readers", "failing")))
    write_table(tmp_path / "t.fwf")
    with pytest.raises(DataError, match=r"^t: .* is not a readable fixed-width file \(odd bytes\)\. Save it again"):
        read_file("t", "fwf", tmp_path / "t.fwf", {})


def test_a_package_that_cannot_be_imported_is_named_with_a_way_out(tmp_path, monkeypatch):
    entries = ENTRIES.replace("my_readers", "broken")
    monkeypatch.syspath_prepend(install(tmp_path / "site", "broken", "import no_such_library\n", entries))
    (tmp_path / "t.csv").write_text("a,y\n1,u\n2,v\n3,u\n4,v\n")
    spec = {"path": str(tmp_path / "t.csv"), "target": "y"}
    with pytest.raises(ConfigError, match=r"^t: the format 'fwf' of the installed package 'broken' cannot be used: .*"):
        read_source("t", spec, 0)
    assert read_source("t", spec | {"format": "csv"}, 0).features.n_rows == 4


def test_a_library_that_is_missing_is_named(tmp_path, monkeypatch):
    reader = READER.replace("called=", "library='no_such_library', called=")
    reader = reader.replace("    return", "    import no_such_library\n    return")
    entries = ENTRIES.replace("my_readers", "bare")
    monkeypatch.syspath_prepend(install(tmp_path / "site", "bare", reader, entries))
    write_table(tmp_path / "t.fwf")
    said = r'^t: .* is read by no_such_library, which is not installed\. pip install "no_such_library"$'
    with pytest.raises(ConfigError, match=said):
        read_source("t", {"path": str(tmp_path / "t.fwf"), "target": "y"}, 0)


def test_the_suffix_decides_between_formats_that_begin_alike(tmp_path, monkeypatch):
    reader = READER.replace("suffixes=", r"begins=rb'PK\x03\x04', suffixes=")
    entries = ENTRIES.replace("my_readers", "zipped")
    monkeypatch.syspath_prepend(install(tmp_path / "site", "zipped", reader, entries))
    np.savez(tmp_path / "t.npz", X=np.eye(3), y=np.arange(3))
    (tmp_path / "t.fwf").write_bytes((tmp_path / "t.npz").read_bytes())
    assert [locate("t", {"path": str(tmp_path / f"t.{end}")}).kind for end in ("npz", "fwf")] == ["npz", "fwf"]


@pytest.mark.parametrize("name", FORMATS)
def test_the_reader_of_each_format_of_this_package_is_there(name):
    form = find_format(name)
    assert callable(form.reader()) and form.file.is_file()
    assert code_digest(form.file) != code_digest(find_format("svmlight" if name != "svmlight" else "arff").file)


def test_select_reads_it(site, tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    write_table(tmp_path / "t.fwf")
    done = blanketflow(tmp_path, "select", "t.fwf", "--target", "y", "--method", "iamb", plug_ins=[site])
    assert done.returncode == 0, done.stdout + done.stderr
    assert "height" in done.stdout


def test_what_the_plan_remembers_of_it_is_found_again_when_its_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    site = install(tmp_path / "site")
    write_table(tmp_path / "t.fwf")
    look = "from blanketflow.workflow.peek import peek; print(peek('t', {'path': 't.fwf', 'target': 'y'}).n_rows)"

    def n_rows():
        asked = {"cwd": tmp_path, "env": environment(PROJECT, site), "capture_output": True, "text": True}
        return int(subprocess.run([sys.executable, "-c", look], check=True, **asked).stdout)

    assert n_rows() == 60
    install(site, reader=READER.replace('"encoding"))', '"encoding")).iloc[:50]', 1))
    assert n_rows() == 50


@pytest.mark.workflow
def test_a_run_reads_it_and_again_when_its_code_changes(tmp_path, monkeypatch):
    monkeypatch.setenv("BLANKETFLOW_CACHE", str(tmp_path / "cache"))
    folder, site = tmp_path / "run", install(tmp_path / "site")
    folder.mkdir()
    a, _ = write_table(folder / "t.fwf")
    (folder / "u.csv").write_text("p,q,y\n" + "".join(f"{i % 5},{i % 7},{'uv'[i % 2]}\n" for i in range(40)))
    config = {
        "datasets": {
            "fixed": {"path": "t.fwf", "format": "fwf", "target": "y"},
            "plain": {"path": "u.csv", "target": "y"},
        },
        "splits": {"evaluation": 0},
        "folds": 0,
        "selectors": {"mim": {"method": "mim", "n_features": 1}},
    }
    tables = [f"results/data/{name}/table.parquet" for name in ("fixed", "plain")]

    def run():
        before = {path: os.stat(folder / path).st_mtime_ns if (folder / path).exists() else 0 for path in tables}
        snakemake(configure(folder, config), "--cores", "2", "--", *tables, plug_ins=[site])
        return [os.stat(folder / path).st_mtime_ns != before[path] for path in tables]

    assert run() == [True, True]
    assert columns(folder / tables[0])["height"] == a.tolist()
    install(site, reader=READER.replace("def read_fwf", "# a comment\ndef read_fwf"))
    assert run() == [False, False]
    install(site, reader=READER.replace('"encoding"))', '"encoding")).iloc[:50]', 1))
    assert run() == [True, False]
    assert columns(folder / tables[0])["height"] == a[:50].tolist()


def test_its_names_are_those_of_the_table(site, tmp_path):
    write_table(tmp_path / "t.fwf")
    assert names_of(read_file("t", "fwf", tmp_path / "t.fwf", {}).columns) == ["height", "weight", "y"]
