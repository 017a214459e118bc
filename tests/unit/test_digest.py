"""Code digests: wording and formatting change nothing, code does, and every version of Python says the same."""

import ast
import importlib.util
import runpy
import shutil
import subprocess
from pathlib import Path

import pytest

from blanketflow.ci import get_ci_test
from blanketflow.workflow import digest
from blanketflow.workflow.configured_sources import sources_of_configured
from blanketflow.workflow.digest import code_digest, files_of, syntax

REPO = Path(__file__).parents[2]
SOURCE = REPO / "src" / "blanketflow"
DIGEST = SOURCE / "workflow" / "digest.py"

CODE = '''
"""What this module does."""
import math
LIMIT: float = 0.5  # a comment
def area(r, *, unit="cm"):
    """Return the area of a circle."""
    if r is None or r > LIMIT:
        raise ValueError(f"{r!r} {unit} is " "too large")
    return math.pi * r ** 2
'''


@pytest.fixture
def copy(tmp_path):
    """A copy of the package's source, and what digests it."""
    ours = shutil.copytree(SOURCE, tmp_path / "blanketflow", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(REPO / "scripts", tmp_path / "scripts", ignore=shutil.ignore_patterns("__pycache__"))

    def digests():
        spec = importlib.util.spec_from_file_location("digest_of_copy", ours / "workflow" / "digest.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        files = {
            "gs": [
                tmp_path / "scripts" / "grow.py",
                ours / "selectors" / "causal" / "gs.py",
                (ours / "ci" / "contingency" / "g2_and_chi2.py", "G2"),
            ],
            "relief": [tmp_path / "scripts" / "grow.py", ours / "selectors" / "filters" / "relief.py"],
            "report": [tmp_path / "scripts" / "report.py"],
            "mim": [(ours / "selectors" / "filters" / "information_criteria.py", "MIM")],
            "jmi": [(ours / "selectors" / "filters" / "information_criteria.py", "JMI")],
            "mixed-mb": [(ours / "selectors" / "causal" / "iamb.py", "MixedMB")],
        }
        return {name: module.code_digest(*found) for name, found in files.items()}

    return ours, digests


def replace(path, before, after):
    text = path.read_text(encoding="utf-8")
    assert before in text
    path.write_text(text.replace(before, after), encoding="utf-8")


def test_rewording_what_every_job_imports_changes_no_digest(copy):
    ours, digests = copy
    before = digests()
    for name in ("core/errors.py", "core/table.py", "kernels/contingency.py", "reporting/report/render.py"):
        tree = ast.parse((ours / name).read_text(encoding="utf-8"))
        docstring = ast.get_docstring(tree, clean=False)
        replace(ours / name, docstring, "Reworded, and longer.\n\nBy a paragraph.")
    assert digests() == before


def test_a_constant_of_a_kernel_changes_the_digests_of_what_uses_it_and_no_others(copy):
    ours, digests = copy
    before = digests()
    replace(ours / "kernels" / "chi_square.py", "0.5", "0.25")
    after = digests()
    assert after["gs"] != before["gs"]
    assert (after["relief"], after["report"]) == (before["relief"], before["report"])


def test_a_method_is_made_of_those_in_its_file_that_it_uses(copy):
    ours, digests = copy
    before = digests()
    criterion = "known.mean(known.conditional_relevance)"
    replace(ours / "selectors" / "filters" / "information_criteria.py", criterion, f"2 * {criterion}")
    after = digests()
    assert after["jmi"] != before["jmi"]
    assert {**after, "jmi": before["jmi"]} == before
    replace(ours / "selectors" / "causal" / "iamb.py", "class KIAMB(GS):", "class KIAMB(GS):\n    ABOVE = 2\n")
    assert digests() == after
    replace(ours / "selectors" / "causal" / "iamb.py", "class InterIAMB(GS):", "class InterIAMB(GS):\n    ABOVE = 2\n")
    assert digests()["mixed-mb"] != after["mixed-mb"]  # it is a kind of it


def test_all_counts_where_no_class_stands_under_that_name(tmp_path):
    path, made = tmp_path / "plugin.py", "@renamed('Made')\nclass Base:\n    card: int = 1\n    alpha = {}\n"
    found = set()
    for alpha in (1, 2):
        path.write_text(made.format(alpha), encoding="utf-8")
        code_digest.cache_clear()
        digest._read.cache_clear()
        found.add(code_digest((path, "Made")))
    assert len(found) == 2


def test_auto_is_made_of_the_rankings_and_models_that_it_asks():
    auto, relief = (files_of(SOURCE / "selectors" / name) for name in ("wrappers/auto.py", "filters/relief.py"))
    asked = (
        "selectors/filters/information_criteria.py",
        "models/lightgbm.py",
        "models/knn.py",
        "moves/smallest_set.py",
    )
    assert {SOURCE / name for name in asked} <= auto and not {SOURCE / name for name in asked} & relief


def test_a_job_is_made_of_the_engine_on_counts_of_its_own_test_alone():
    sources = {name: files_of(*sources_of_configured(get_ci_test(name))) for name in ("fisher-z", "lr-mixed", "ppi")}
    on_counts = {name: {path.name for path in found if path.parent.name == "counts"} for name, found in sources.items()}
    assert "correlations_of_sums.py" in on_counts["fisher-z"] and "regressions_on_sums.py" in on_counts["lr-mixed"]
    assert "regressions_on_sums.py" not in on_counts["fisher-z"] and "correlations_of_sums.py" not in on_counts["ppi"]


def test_imports_are_found_wherever_a_statement_may_stand(tmp_path):
    source = """
class One:
    from blanketflow.kernels import @
    async def inner(self):
        with open("x"): from blanketflow.kernels.@ import y
        for i in self:
            import numpy, blanketflow.kernels.@ as z
        else: import blanketflow.kernels.@
        while i:
            if i: import numpy
            else: import blanketflow.kernels.@
try: import blanketflow.kernels.@
except ImportError: import blanketflow.kernels.@
finally: import blanketflow.kernels.@
match 1:
    case 1: import blanketflow.kernels.@
"""
    path = tmp_path / "one.py"
    # Modules that import nothing of ours.
    names = [
        "beta_tail",
        "chi_square",
        "differences",
        "logistic",
        "middle_values",
        "nearest_rows",
        "reachability",
        "splines",
        "subsets",
    ]
    for name in names:
        source = source.replace("@", name, 1)
    assert "@" not in source
    path.write_text(source, encoding="utf-8")
    assert files_of(path) == {path, *(SOURCE / "kernels" / f"{name}.py" for name in ["__init__", *names])}


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ('"""What this module does."""', '"""Something else."""'),
        ('    """Return the area of a circle."""\n', ""),
        ("  # a comment", ""),
        ("r ** 2", "(r**2)"),
        ('unit="cm"', "unit='cm'"),
        ('{unit} is " "too', "{unit} is too"),
        ("import math\n", "import math\n\n\n'''A text that does nothing.'''\n"),
    ],
)
def test_wording_and_formatting_do_not_count(before, after):
    assert before in CODE
    assert syntax(ast.parse(CODE.replace(before, after))) == syntax(ast.parse(CODE))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("0.5", "0.25"),
        ("r > LIMIT", "r >= LIMIT"),
        ("r is None", "r is True"),
        ("too large", "too big"),
        ("{r!r}", "{r}"),
        ('unit="cm"', "unit=None"),
        ("*, ", ""),
        ("r ** 2", "r ** 2.0"),
        (" or ", " and "),
        ("return math", "yield math"),
        ("LIMIT: float = 0.5", "LIMIT: float"),
    ],
)
def test_code_counts(before, after):
    assert before in CODE
    assert syntax(ast.parse(CODE.replace(before, after))) != syntax(ast.parse(CODE))


def test_the_form_is_as_worked_out_by_hand():
    """Any version of Python must write this tree in this way; a new one may add parts only if they are empty."""
    argument = ["arguments", "args", [["arg", "arg", "'x'"]]]
    text = [["Constant", "value", "'a'"], ["FormattedValue", "value", ["Name", "id", "'x'"], "conversion", "-1"]]
    assert syntax(ast.parse("def f(x):\n  return f'a{x}' if x else None")) == [
        "Module",
        "body",
        [
            [
                "FunctionDef",
                *("name", "'f'"),
                *("args", argument),
                "body",
                [
                    [
                        "Return",
                        "value",
                        [
                            "IfExp",
                            *("test", ["Name", "id", "'x'"]),
                            *("body", ["JoinedStr", "values", text]),
                            *("orelse", ["Constant", "value", "None"]),
                        ],
                    ]
                ],
            ]
        ],
    ]


@pytest.mark.extended
def test_all_pythons_at_hand_give_equal_digests():
    pythons = runpy.run_path(str(REPO / "tests" / "versions" / "environments.py"))["pythons"]()
    code = f"""
import importlib.util, pathlib
spec = importlib.util.spec_from_file_location("digest", {str(DIGEST)!r})
digest = importlib.util.module_from_spec(spec)
spec.loader.exec_module(digest)
print(digest.code_digest(*sorted(pathlib.Path({str(REPO)!r}).glob("scripts/*.py"))))
"""
    found = {
        version: subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout
        for version, python in pythons.items()
    }
    if len(found) < 2:
        pytest.skip("there is one version of Python here")
    assert len(set(found.values())) == 1, found
