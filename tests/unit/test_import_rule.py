"""Who may import whom, read off the syntax tree of every source file."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SOURCE = REPO / "src" / "blanketflow"

#: For each part of the package, the other parts that it may import.
ALLOWED = {
    "core": set(),
    "kernels": {"core"},
    "models": {"core"},
    "ci": {"core", "kernels", "models"},
    "search": {"core", "ci"},
    "selectors": {"core", "kernels", "models", "ci", "search"},
    "aggregate": {"core"},
    "seal": set(),
    "temporary": set(),
    "typed_frames": set(),
    "artefacts": {"core", "seal", "temporary"},
    "digest": set(),
    "data": {"core", "artefacts", "digest", "seal"},
    "evaluate": {"core", "models"},
    "result_tables": {"core", "typed_frames"},
    "plots": {"core"},
    "report": {"core", "plots"},
    "estimator": {"core", "ci", "selectors", "aggregate", "data"},
    "config_keys": {"core"},
    "identifiers": {"core"},
    "output_folder": {"core"},
    "file_times": {"core", "output_folder"},
    "config_file": {"core"},
    "config": {"core", "ci", "selectors", "models", "evaluate", "aggregate", "config_keys", "identifiers"}
    | {"output_folder"},
    "cost": {"core", "ci", "data", "selectors", "workload"},
    "workload": set(),
    "memory": {"data", "workload"},
    "grain": {"config", "cost", "data", "identifiers"},
    "resources": {"ci", "config", "cost", "data", "grain", "identifiers", "memory"},
    "suitability": {"core", "ci", "config", "data", "evaluate", "models"},
    "plan": {"core", "config", "data", "digest", "file_times", "grain", "identifiers", "printed"}
    | {"resources", "suitability"},
    "run_time": {"cost", "grain", "plan"},
    "inspection": {"core", "ci", "cost", "data", "plan", "suitability"},
    "starting_config": {"core", "identifiers", "inspection", "plan", "run_time"},
    "exports": {"core", "artefacts", "data"},
    "catalogue": {"core"},
    "schema": {"core", "config", "config_keys", "identifiers"},
    "docs_pages": {"core", "artefacts", "config_keys", "data", "evaluate", "result_tables", "selectors", "stages"},
    "jobs": {"core", "artefacts"},
    "stages": {"core", "aggregate", "artefacts", "ci", "data", "evaluate", "search", "selectors", "jobs"},
    "collect": {"core", "artefacts"},
    "tabulate": {"collect", "result_tables"},
    "printed": {"core", "typed_frames"},
    "finished_run": {"core", "collect", "report", "result_tables"},
    "comparison": {
        "core",
        "artefacts",
        "ci",
        "config",
        "data",
        "estimator",
        "finished_run",
        "grain",
        "identifiers",
        "jobs",
    }
    | {"plan"}
    | {"plots", "report", "selectors", "stages", "tabulate"},
    "all_blankets": {"core", "ci", "search", "selectors"},
    "one_shot": {"core", "config", "data", "exports", "search", "selectors", "aggregate"},
    "cli": {"core", "artefacts", "ci", "data", "jobs", "one_shot", "catalogue", "comparison", "exports"}
    | {"config", "config_file", "inspection", "output_folder", "run_time", "starting_config", "suitability"},
    "__init__": {"core", "ci", "estimator", "all_blankets", "comparison"},
}
#: Third-party packages that a part may import at all.
ONLY_NUMPY = ("core",)
FILES = sorted(SOURCE.rglob("*.py"))


def part_of(path: Path) -> str:
    relative = path.relative_to(SOURCE)
    return relative.parts[0] if len(relative.parts) > 1 else relative.stem


def imports(path: Path) -> list[str]:
    """Absolute names of everything a file imports, inside functions too."""
    names = []
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parent
            for _ in range(node.level - 1):
                folder = folder.parent
            base = ".".join(folder.relative_to(SOURCE.parent).parts)
            base += f".{node.module}" if node.module else ""
            names += [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_a_part_imports_only_the_parts_below_it(path):
    part = part_of(path)
    own = {name.split(".")[1] for name in imports(path) if name.startswith("blanketflow.")}
    assert own - ALLOWED[part] - {part, "__version__"} == set()


@pytest.mark.parametrize("path", FILES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_nothing_imports_snakemake_and_core_imports_numpy_only(path):
    roots = {name.split(".")[0] for name in imports(path)}
    assert "snakemake" not in roots
    if part_of(path) in ONLY_NUMPY:
        assert roots - set(sys.stdlib_module_names) - {"blanketflow", "numpy"} == set()


@pytest.mark.parametrize("package", ["ci", "selectors", "models"])
def test_cards_are_read_without_heavy_packages(package):
    heavy = {"numba", "scipy", "pandas", "sklearn", "pyarrow", "lightgbm"}
    code = f"""
import sys
from blanketflow.core.registry import discover
discover("blanketflow.{package}")
print(sorted({heavy} & set(sys.modules)))
"""
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout == "[]\n"


def test_scripts_do_not_import_each_other_and_hold_no_statistics():
    names = {path.stem for path in (REPO / "scripts").glob("*.py")}
    for path in (REPO / "scripts").glob("*.py"):
        roots = {name.split(".")[0] for name in imports(path)}
        assert not roots & names
        assert not roots & {"numpy", "scipy", "sklearn", "numba"}, path.name


def test_every_rule_has_its_script_and_every_script_its_rule():
    rules = "".join(path.read_text(encoding="utf-8") for path in (REPO / "rules").glob("*.smk"))
    for path in (REPO / "scripts").glob("*.py"):
        assert f'"../scripts/{path.name}"' in rules


def test_files_stay_short():
    limits = {"src": 400, "scripts": 80, "rules": 220}
    for folder, limit in limits.items():
        for path in (REPO / folder).rglob("*"):
            if path.suffix in (".py", ".smk"):
                assert len(path.read_text(encoding="utf-8").splitlines()) <= limit, path
    assert len((REPO / "Snakefile").read_text(encoding="utf-8").splitlines()) < 60
