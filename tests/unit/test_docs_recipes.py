"""What pages say to other programs: R reads an exported choice, and the keys of each command's JSON."""

import json
import re
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LinearRegression

from blanketflow.cli import main
from blanketflow.reporting.export import ExportedBlanket
from blanketflow.reporting.tables import TABLES

DOCS = Path(__file__).parents[2] / "docs"


@pytest.mark.skipif(shutil.which("Rscript") is None, reason="R is not installed")
def test_r_fits_a_model_of_an_exported_choice(tmp_path):
    names = ["petal width (cm)", "it's", "3"]
    rng = np.random.default_rng(0)
    cells = pd.DataFrame(rng.normal(size=(50, 4)), columns=[*names, "other"])
    cells["outcome"] = cells[names].sum(axis=1) + rng.normal(size=50)
    cells.to_csv(tmp_path / "my.csv", index=False)
    features = [
        {"feature": name, "kind": "numeric", "role": "member", "importance": 1.0, "frequency": 1.0, "stand_ins": ""}
        for name in names
    ]
    choice = ExportedBlanket("my", "outcome", "regression", "iamb", "iamb", features, "1", 0)
    (tmp_path / "choice.csv").write_text(choice.as_csv(), encoding="utf-8")
    (code,) = re.findall(r"```r\n(.*?)```", (DOCS / "recipes.md").read_text(encoding="utf-8"), re.DOTALL)
    code += 'cat("\\n", sprintf("%.9f", summary(model)$r.squared), sep = "")'
    done = subprocess.run(["Rscript", "-e", code], cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert all(f"`{name}`" in done.stdout for name in names) and "other" not in done.stdout
    expected = LinearRegression().fit(cells[names], cells["outcome"]).score(cells[names], cells["outcome"])
    assert float(done.stdout.splitlines()[-1]) == pytest.approx(expected, abs=1e-8)


@pytest.mark.parametrize(
    "arguments",
    [
        ["inspect", "sklearn:wine"],
        ["select", "sklearn:wine", "--method", "mim"],
        ["discover", "sklearn:wine"],
        ["compare", "sklearn:wine", "--methods", "mim", "--evaluation", "0", "--folds", "0"],
        ["explain", "iamb"],
        ["list", "--family", "kernel"],
    ],
    ids=lambda arguments: arguments[0],
)
def test_the_page_of_commands_names_the_keys_of_their_json(arguments, capsys):
    assert main([*arguments, "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    found = found[0] if isinstance(found, list) else found
    text = (DOCS / "command-line.md").read_text(encoding="utf-8").split("keys of its JSON")[1]
    (said,) = re.findall(rf"^\|[^|]*`{arguments[0]}`[^|]*\| (.*) \|$", text, re.MULTILINE)
    named = set(re.findall(r"`(\w+)`", said))
    if arguments[0] in ("explain", "list"):  # facts stand on the pages of methods
        assert named - {"list"} < set(found)
    else:
        more = {*found["blanket"][0], "sentence"} if arguments[0] in ("select", "discover") else set()
        assert named == {key for key in found if arguments[0] != "compare" or key not in TABLES} | more
