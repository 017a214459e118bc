"""What to begin with on a table: one advice in `inspect`, `init` and docs/choosing.md, that ends with an answer."""

import json
import shlex
from pathlib import Path

import numpy as np
import pytest
import yaml

import blanketflow as bf
from blanketflow.api.advice import ADVICE, BLANKET, BLANKET_OF_LEVELS, FEWEST_ROWS, TOO_FEW_ROWS, blanket_advice
from blanketflow.cli import main
from blanketflow.workflow.peek import peek
from blanketflow.workflow.plan import make_plan
from generate.advice import choosing_text

PROJECT = Path(__file__).parents[2]


def gene_table(folder, n_rows=96, n_genes=4026):
    """Numbers of the shape of a gene table: two classes, told apart by five genes that each have near-copies."""
    rng = np.random.default_rng(0)
    y = np.arange(n_rows) % 2
    X = rng.normal(size=(n_rows, n_genes))
    X[:, :5] += 1.5 * y[:, np.newaxis]
    for copy in range(5, 100):
        X[:, copy] += X[:, copy % 5]
    np.savez(folder / "genes.npz", X=X, y=y.astype(str))
    return "genes.npz"


def test_the_table_of_the_documentation_is_that_of_the_code():
    path = PROJECT / "docs" / "choosing.md"
    present = path.read_text(encoding="utf-8")
    assert choosing_text(present) == present, "run `make docs` and commit the result"
    assert all(advice.method in choosing_text("<!-- advice --><!-- end of advice -->") for advice in ADVICE)


@pytest.mark.parametrize(
    ("test", "n_rows", "n_features", "advice", "options"),
    [
        ("g2", 5000, 40, BLANKET_OF_LEVELS, {"alpha": 0.05, "time_limit": 120}),
        ("g2", 5000, 2001, BLANKET, {"alpha": 2.5e-05}),
        ("fisher-z", 96, 4026, BLANKET, {"alpha": 1.2e-05}),
        ("mi-permutation", 96, 4026, BLANKET, {"alpha": 0.001}),  # permutations give no smaller p-value
        ("mi-permutation", 96, 10, BLANKET, {"alpha": 0.005}),
        ("fisher-z", FEWEST_ROWS - 1, 30, TOO_FEW_ROWS, {"n_features": 10}),
        ("fisher-z", FEWEST_ROWS - 1, 5, TOO_FEW_ROWS, {"n_features": 2}),
    ],
)
def test_the_blanket_that_is_advised(test, n_rows, n_features, advice, options):
    from dataclasses import replace

    facts = replace(peek("wine", {"source": "sklearn:wine"}), n_features=n_features)
    found = blanket_advice(facts, n_rows, bf.get_ci_test(test))
    assert (found.method, found.situation, found.options) == (advice.method, advice.situation, options)


def commands_of(out):
    return [shlex.split(line) for line in out.splitlines() if line.startswith("    blanketflow ")]


def test_a_gene_table_gets_one_advice_which_ends_with_a_set(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    genes = gene_table(tmp_path)
    assert main(["inspect", genes, "--target", "target", "--all"]) == 0
    to_predict, blanket, config = commands_of(capsys.readouterr().out)
    assert to_predict == ["blanketflow", "select", genes, "--target", "target"]
    assert blanket[4:] == ["target", "--method", "iamb", "--set", "alpha=1.2e-05"]
    assert main([*blanket[1:], "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["status"] == "ok" and {row["feature"] for row in found["blanket"]} <= {f"x{i}" for i in range(100)}
    assert (found["ci_test"], found["ci_test_reason"][:24]) == ("fisher-z", "the features are numbers")
    assert found["blanket"]
    assert main(config[1:]) == 0
    raw = yaml.safe_load(Path("genes.yaml").read_text(encoding="utf-8"))
    assert raw["selectors"]["iamb"] == {"method": "iamb", "ci_test": "auto", "alpha": 1.2e-05}
    assert list(raw["selectors"])[:2] == ["auto", "iamb"] and "hiton-mb" not in raw["selectors"]
    assert raw["selectors"].get("ppfs", {"correction": "bh"})["correction"] == "bh"
    assert raw["selectors"]["ppfs"]["ci_test"] == "auto"  # its own test rejects true nulls where columns are related
    text = Path("genes.yaml").read_text(encoding="utf-8")
    assert "# ppfs:" in text or "correction: bh" in text
    plan = make_plan(raw, Path)
    assert plan.test_id("genes", "iamb") == "fisher-z"
    assert f"# ci_test: auto is fisher-z here: {plan.config.chosen['genes'].reason}." in text


@pytest.mark.extended
def test_the_defaults_on_a_gene_table_are_an_answer_or_not_called_one(tmp_path):
    """Of the searches that took whatever was left, each separates its members now, or says that it did not."""
    with np.load(tmp_path / gene_table(tmp_path)) as held:
        X, y = held["X"], held["y"]
    few, many = bf.HITONPC().fit(X, y), bf.IAMB().fit(X, y)
    assert few.status_ == "ok" and 0 < len(few.selected_features_) < 10
    assert many.status_ == "unreliable" and "for which there are too few rows" in many.reason_
    assert few.ci_test_.card.id == many.ci_test_.card.id == "fisher-z"
    binned = bf.HITONPC(ci_test="g2", symmetry="none").fit(X[:, :400], y)
    assert binned.status_ == "unreliable" and binned.reason_.startswith("not separated: none of the")
    assert "(at least 250 are needed, there are 96)" in binned.reason_


@pytest.mark.extended
@pytest.mark.parametrize("source", ["sklearn:wine", "sklearn:diabetes", "simulate:clinic"])
def test_what_is_advised_ends_with_a_reliable_set(source, capsys):
    assert main(["inspect", source, "--all"]) == 0
    for command in commands_of(capsys.readouterr().out)[:2]:
        assert main([*command[1:], "--json"]) == 0
        found = json.loads(capsys.readouterr().out)
        assert found["status"] == "ok" and found["blanket"]
