"""`blanketflow inspect`, `init`, `list` and `explain`, as typed."""

import json
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
import yaml

from blanketflow.cli import main
from blanketflow.cli.list_and_explain import page
from blanketflow.config.reading import read_config
from blanketflow.config.schema import json_schema
from blanketflow.core.registry import discover
from blanketflow.data.sources import read_source

REPO = Path(__file__).parents[2]
EVIL = "\x1b[31mevil\x07"


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table whose names are hostile: markup, escapes, YAML, quotes, Unicode."""
    monkeypatch.chdir(tmp_path)
    names = ["[red]x[/red]", EVIL, "yes", "a: b # c", "Größe 'm'", '"q"', "patient_id", "out come"]
    lines = [",".join('"' + name.replace('"', '""') + '"' for name in names)]
    lines += [
        ",".join(map(str, [i % 7, (i * 5) % 11, i % 2, i % 3, i * 0.37 % 1, i % 5, 1000 + i, i % 2])) for i in range(80)
    ]
    (tmp_path / "my study.csv").write_text("\n".join(lines), encoding="utf-8")
    return names


def run(capsys, *arguments):
    code = main(list(arguments))
    captured = capsys.readouterr()
    return code, captured.out, captured.err


def test_inspect_shows_hostile_names_as_text(table, capsys):
    code, out, err = run(capsys, "inspect", "my study.csv", "--target", "out come")
    assert (code, err) == (0, "")
    assert "[red]x[/red]" in out and "\\x1b[31mevil\\x07" in out and "\x1b" not in out and "\x07" not in out
    assert "patient_id may number or name the rows: drop=[patient_id]" in out


def test_inspect_json_is_all_that_is_on_stdout(table, capsys):
    code, out, err = run(capsys, "inspect", "my study.csv", "--target", "out come", "--json")
    found = json.loads(out)
    assert (code, err) == (0, "") and [c["name"] for c in found["columns"]] == table[:-1]
    assert "\x1b" not in out
    code, out, _ = run(capsys, "inspect", "my study.csv", "--json")
    assert code == 0 and set(json.loads(out)["suggested_targets"]) <= set(table)


def test_the_next_command_that_inspect_names_runs(table, capsys):
    _, out, _ = run(capsys, "inspect", "my study.csv", "--target", "out come", "--all")
    commands = [shlex.split(line)[1:] for line in out.splitlines() if line.startswith("    blanketflow ")]
    to_predict, blanket, config = commands
    data_set = ["--data-set", "drop=[patient_id]"]
    assert to_predict == ["select", "my study.csv", "--target", "out come", *data_set]  # takes a while
    for command in (blanket, config):
        code, _, err = run(capsys, *command)
        assert code == 0, err


@pytest.fixture
def study(tmp_path, monkeypatch):
    """Deaths with a follow-up time, an identifier, dates, labels as numbers, and a column that tells the target."""
    monkeypatch.chdir(tmp_path)
    columns = ["follow-up days", "id", "visit", "stage", "told", "x, y", "died"]
    lines = [",".join(f'"{name}"' for name in columns)]
    for i in range(120):
        died = i % 3 == 0
        row = [
            7 * i % 97 + 200 * died,
            4000 + 3 * i,
            f"2024-{1 + i // 3 % 12:02}-{1 + i // 3 % 28:02}",
            i % 4,
            "ab"[died],
        ]
        lines.append(",".join(map(str, [*row, (i * 11) % 17 + 0.5, int(died)])))
    (tmp_path / "study.csv").write_text("\n".join(lines), encoding="utf-8")
    return columns


def next_command(out):
    (line,) = (line for line in out.splitlines() if line.startswith("    blanketflow "))
    return shlex.split(line)[1:]


def test_the_first_screen_says_what_to_settle_and_the_command_has_what_is_no_guess(study, capsys):
    code, out, err = run(capsys, "inspect", "study.csv", "--target", "died")
    assert (code, err) == (0, "") and out.startswith("120 rows, 6 features; died has 2 classes (0 67%, 1 33%)\n")
    words = " ".join(out.split())
    first, second, third = (words.index(f" {n}. ") for n in (1, 2, 3))
    key = 'target={time: "follow-up days", event: died} searches the time to the event; to keep classes, drop='
    assert f'{key}["follow-up days"]' in words[first:second]
    assert "if known only with or after the target, drop=[told]" in words[second:third]
    assert "id may number or name the rows: drop=[id]" in words[third:] and " 4. " not in words
    assert "methods for a" not in out and "are needed" not in out
    command = next_command(out)
    assert command == ["select", "study.csv", "--target", "died", "--data-set",
                       'drop=["follow-up days", id]', "dates=ordinal"]  # fmt: skip
    code, out, err = run(capsys, *command, "--method", "mrmr", "--json")
    assert code == 0 and json.loads(out)["n_features"] == 4 and "2024" not in err
    assert "--data-set 'drop=[told]'" in err  # what is for the reader to judge is said again


def test_the_command_keeps_the_keys_that_were_given(study, capsys):
    given = ["drop=[told]", "missing_values=[nd]"]
    _, out, _ = run(capsys, "inspect", "study.csv", "--target", "died", "--data-set", *given)
    command = next_command(out)
    assert command[command.index("--data-set") + 1 :] == [
        'drop=[told, "follow-up days", id]', "missing_values=[nd]", "dates=ordinal",
    ]  # fmt: skip
    assert run(capsys, *command, "--method", "mrmr")[0] == 0


def test_without_a_target_the_first_screen_guesses_it_and_names_the_command(study, capsys):
    code, out, err = run(capsys, "inspect", "study.csv")
    assert (code, err) == (0, "") and "died  " in out and "1. id may number or name the rows: drop=[id]" in out
    command = next_command(out)
    assert command[:4] == ["inspect", "study.csv", "--target", "died"] and "drop=[id]" in command
    assert run(capsys, *command)[0] == 0


@pytest.mark.parametrize("target", [["--target", "out come"], []])
def test_the_page_loads_nothing_and_shows_names_as_text(target, table, capsys):
    code, out, err = run(capsys, "inspect", "my study.csv", *target, "--html", "page.html")
    assert (code, err) == (0, "Wrote page.html.\n") and out
    with open("page.html", encoding="utf-8") as file:
        page = file.read()
    assert "[red]x[/red]" in page and "\\x1b[31mevil" in page and "\x1b" not in page
    assert "Content-Security-Policy" in page and " src=" not in page and "http" not in page.replace("http-equiv", "")
    assert (
        page.count("<svg") + page.count('<ul class="labels">') >= len(table) - bool(target) and "no values" not in page
    )
    assert ("out come" in page) and ("Which column is the target?" in page) != bool(target)
    assert "drop: [patient_id]" in page and page.count("<li>\n<h3>") == len(table) - bool(target)


def test_a_table_of_many_columns_is_counted_whole_before_a_target_is_named(tmp_path, capsys):
    path = tmp_path / "wide.csv"
    names = [f"g{j}" for j in range(12_000)]
    path.write_text(
        "\n".join([",".join(names), *(",".join("01"[(i * j) % 3 == 1] for j in range(12_000)) for i in range(9))])
    )
    code, out, _ = run(capsys, "inspect", str(path))
    assert code == 0 and "9 rows, 12,000 columns" in out
    last = out.partition("Which column")[2]
    assert "it is the last column" not in last or "g11999" in last


def test_a_page_replaces_no_table(table, capsys):
    code, out, err = run(capsys, "inspect", "my study.csv", "--html", "my study.csv")
    assert (code, out) == (1, "") and "ends in .html" in err
    with open("my study.csv", encoding="utf-8") as file:
        assert file.read().count("\n") == 80


def test_init_writes_a_config_that_the_schema_and_the_plan_take(table, capsys):
    jsonschema = pytest.importorskip("jsonschema")
    code, out, _ = run(capsys, "init", "my study.csv", "--target", "out come", "-o", "my.yaml")
    assert code == 0 and "blanketflow run --configfile my.yaml" in out
    with open("my.yaml", encoding="utf-8") as file:
        text = file.read()
    raw = yaml.safe_load(text)
    jsonschema.validate(raw, json_schema())
    config = read_config(raw)
    assert config.datasets["my-study"]["target"] == "out come"
    assert config.datasets["my-study"]["drop"] == ["patient_id"] and "\x1b" not in text
    assert read_source("my-study", config.datasets["my-study"], 0).features.names == table[:-2]


def test_init_never_overwrites_unless_told(table, capsys):
    assert run(capsys, "init", "my study.csv", "--target", "out come", "-o", "my.yaml")[0] == 0
    with open("my.yaml", "a", encoding="utf-8") as file:
        file.write("# mine\n")
    code, out, err = run(capsys, "init", "my study.csv", "--target", "out come", "-o", "my.yaml")
    assert code == 1 and out == "" and "--force" in err
    with open("my.yaml", encoding="utf-8") as file:
        assert "# mine" in file.read()
    assert run(capsys, "init", "my study.csv", "--target", "out come", "-o", "my.yaml", "--force")[0] == 0


def test_init_guesses_the_target_and_says_so(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i},{'no' if i % 3 else 'yes'},{i * i % 7},{i % 5}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,Outcome,z,u", *rows]))
    code, _, err = run(capsys, "init", "t.csv")
    assert code == 0 and "The target is a guess: 'Outcome', since its name is 'Outcome'" in err
    assert "--target NAME --force" in err
    assert yaml.safe_load((tmp_path / "t.yaml").read_text())["datasets"]["t"]["target"] == "Outcome"
    (tmp_path / "ids.csv").write_text("\n".join(["id", *(f"p{i}" for i in range(60))]))
    code, _, err = run(capsys, "init", "ids.csv")
    assert code == 1 and "no column of ids.csv looks like a target" in err and not (tmp_path / "ids.yaml").exists()


def test_a_target_among_the_keys_of_the_data_set_is_no_guess(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i * 3 % 11},{i * i % 7},{1 + i * i % 53},{int(i % 3 > 0)}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,days,died", *rows]))
    given = ["--data-set", "target={time: days, event: died}"]
    code, out, err = run(capsys, "inspect", "t.csv", *given)
    assert (code, err) == (0, "") and "60 rows, 2 features" in out
    assert next_command(out) == ["select", "t.csv", *given]
    code, _, err = run(capsys, "init", "t.csv", *given)
    assert code == 0 and "guess" not in err
    assert yaml.safe_load((tmp_path / "t.yaml").read_text())["datasets"]["t"]["target"] == {
        "time": "days", "event": "died",
    }  # fmt: skip


@pytest.mark.parametrize("source", ["sklearn:wine", "sklearn:diabetes", "simulate:clinic"])
def test_init_takes_sources(source, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    assert run(capsys, "init", source)[0] == 0
    name = source.partition(":")[2]
    with open(f"{name}.yaml", encoding="utf-8") as file:
        assert list(read_config(yaml.safe_load(file)).datasets) == [name]


def test_a_class_of_few_rows_gets_fewer_folds(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    lines = ["x,z,y", *(f"{i},{i * i % 7},{'a' if i < 46 else 'b'}" for i in range(50))]
    (tmp_path / "t.csv").write_text("\n".join(lines))
    assert run(capsys, "init", "t.csv", "--target", "y")[0] == 0
    with open("t.yaml", encoding="utf-8") as file:
        raw = yaml.safe_load(file)
    assert raw["splits"]["evaluation"] == 4 and raw["folds"] == 3


def test_few_events_get_fewer_folds_and_are_told(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    rows = [f"{i * 3 % 11},{i * i % 7},{1 + i * i % 53},{int(i % 15 == 0)}" for i in range(60)]
    (tmp_path / "t.csv").write_text("\n".join(["x,z,days,died", *rows]))
    given = ["--data-set", "target={time: days, event: died}"]
    assert "only 4 events in 60 rows" in run(capsys, "inspect", "t.csv", *given)[1]
    assert run(capsys, "init", "t.csv", *given)[0] == 0
    with open("t.yaml", encoding="utf-8") as file:
        raw = yaml.safe_load(file)
    assert raw["splits"]["evaluation"] == 4 and raw["folds"] == 3
    raw["splits"]["evaluation"] = 5
    with open("t.yaml", "w", encoding="utf-8") as file:
        yaml.safe_dump(raw, file)
    code, _, err = run(capsys, "run", "--configfile", "t.yaml", "--dry-run")
    assert code == 1 and "4 events, fewer than the 5 folds: use fewer folds" in err


def test_list_names_everything_and_filters(capsys):
    _, out, _ = run(capsys, "list")
    for package in ("selectors", "ci", "models"):
        assert all(f"\n  {name} " in out for name in discover(f"blanketflow.{package}"))
    found = json.loads(run(capsys, "list", "--family", "kernel", "--json")[1])
    assert [entry["id"] for entry in found] == ["bahsic", "hsmb"]
    code, _, err = run(capsys, "list", "--family", "kernal")
    assert code == 1 and "Did you mean 'kernel'?" in err


@pytest.mark.parametrize("identifier", ["hiton-mb", "g2", "svm", "mrmr", "all", "true-blanket"])
def test_explain_states_the_card_and_every_option(identifier, capsys):
    code, out, _ = run(capsys, "explain", identifier)
    facts = json.loads(run(capsys, "explain", identifier, "--json")[1])
    assert code == 0 and facts["id"] == identifier
    assert all(option["name"] in out and option["values"] in out for option in facts["options"])
    assert facts["command"] in out
    yaml.safe_load(facts["config"])


def test_explain_prints_the_page_that_a_mistake_names(tmp_path, capsys):
    code, _, err = run(capsys, "select", str(tmp_path / "missing.csv"), "--target", "y")
    (command,) = re.findall("blanketflow (explain docs/[a-z-]+.md)", err)
    assert code == 1 and err.count("\n") == 1
    code, out, _ = run(capsys, *command.split())
    assert code == 0 and out == (REPO / command.split()[1]).read_text("utf-8")
    code, _, err = run(capsys, "explain", "docs/source.md")
    assert code == 1 and "Did you mean 'docs/sources.md' or" in err
    assert run(capsys, "explain", "docs/../README.md")[0] == 1


def test_every_page_that_the_package_names_can_be_printed():
    texts = [path.read_text("utf-8") for path in sorted((REPO / "src").glob("**/*.py"))]
    named = {name for text in texts for name in re.findall(r"\bdocs/[a-z-]+\.md", text)}
    assert "docs/sources.md" in named and all(map(page, named))


def test_the_examples_of_explain_are_configs(capsys):
    for entry in json.loads(run(capsys, "list", "--json")[1]):
        raw = {"datasets": {"w": {"source": "sklearn:wine"}}, "selectors": {"gs": {"method": "gs"}}}
        read_config(raw | yaml.safe_load(entry["config"]))


def test_wrong_usage_is_2_and_mistakes_are_1_and_both_are_said_on_stderr(capsys):
    for arguments in (["select"], ["bogus"], ["list", "--bogus"], ["compare", "a.csv", "--evaluation", "many"]):
        code, out, err = run(capsys, *arguments)
        assert (code, out) == (2, "") and "Error" in err
    code, out, err = run(capsys, "explain", "hitonmb")
    assert (code, out) == (1, "") and "Did you mean 'hiton-mb'" in err and err.count("\n") == 1
    assert run(capsys, "--version")[:2] == (0, "blanketflow 0.1.0\n")
    assert run(capsys, "--help")[0] == 0


def test_a_mistake_with_a_hostile_name_stays_on_one_line_and_is_text(table, capsys):
    code, _, err = run(capsys, "select", "my study.csv", "--target", "[red]y[/red]\x1b[2J\n")
    assert code == 1 and err.count("\n") == 1 and "[red]y[/red]" in err and "\x1b" not in err


def test_listing_and_help_load_no_heavy_package():
    heavy = {"pandas", "sklearn", "scipy", "numba", "pyarrow", "lightgbm", "altair", "snakemake", "rich"}
    for arguments in (["list"], ["--help"], ["explain", "g2"]):
        loaded = f"print(sorted({heavy} & set(sys.modules)))"
        code = f"import sys; from blanketflow.cli import main; main({arguments}); {loaded}"
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
        assert done.stdout.splitlines()[-1] == "[]", arguments
