"""`blanketflow deploy` overwrites nothing; tests/workflow/test_wheel.py runs what it writes."""

from blanketflow.cli import main
from blanketflow.config.file import read_config_file
from blanketflow.config.reading import read_config


def test_a_folder_is_written_once(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "study").mkdir()
    (tmp_path / "study/notes.txt").touch()
    assert main(["deploy", "study"]) == 0
    assert capsys.readouterr().out.endswith("Next:\n  cd study\n  blanketflow run\n")
    made = {path.name for path in (tmp_path / "study").iterdir()}
    assert made == {"Snakefile", "config.yaml", "README.md", "profiles", "notes.txt"}
    assert read_config(read_config_file(tmp_path / "study/config.yaml")).datasets
    before = (tmp_path / "study/config.yaml").stat().st_mtime_ns
    assert main(["deploy", "study"]) == 1
    assert "study already holds Snakefile, config.yaml, README.md, profiles" in capsys.readouterr().err
    assert (tmp_path / "study/config.yaml").stat().st_mtime_ns == before
    assert main(["deploy", "study/notes.txt"]) == 1
    assert "study/notes.txt is a file. Name a folder." in capsys.readouterr().err
