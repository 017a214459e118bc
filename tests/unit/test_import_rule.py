"""Who may import whom, read off the syntax tree of every source file."""

import ast
import subprocess
import sys
from functools import cache
from graphlib import TopologicalSorter
from pathlib import Path

import pytest

REPO = Path(__file__).parents[2]
SOURCE = REPO / "src" / "blanketflow"

#: For each room of the package, the other rooms that it may import; `docs/architecture.md` draws the same.
ROOMS = {
    "core": (),
    "kernels": ("core",),
    "models": ("core", "kernels"),
    "targets": ("core", "kernels", "models"),
    "ci": ("core", "kernels", "models", "targets"),
    "moves": ("core", "kernels", "models", "targets", "ci"),
    "selectors": ("core", "kernels", "models", "targets", "ci", "moves"),
    "data": ("core", "targets"),
    "counts": ("core", "ci", "data"),
    "search": ("core", "kernels", "models", "targets", "ci", "moves", "selectors", "data"),
    "plugins": ("core", "models", "targets", "ci", "moves", "selectors"),
    "config": ("core", "models", "targets", "ci", "moves", "selectors", "search"),
    "reporting": ("core", "data"),
    "workflow": (
        "kernels",
        "core",
        "models",
        "targets",
        "ci",
        "moves",
        "selectors",
        "search",
        "data",
        "counts",
        "config",
        "reporting",
    ),
    "api": (
        "core",
        "models",
        "targets",
        "ci",
        "moves",
        "selectors",
        "search",
        "data",
        "counts",
        "config",
        "reporting",
        "workflow",
    ),
    "cli": (
        "core",
        "models",
        "targets",
        "ci",
        "moves",
        "selectors",
        "search",
        "data",
        "counts",
        "config",
        "reporting",
        "workflow",
        "api",
    ),
}
#: What the package itself offers, each loaded when first asked for.
ROOMS_OF_THE_PACKAGE = ("core", "ci", "selectors", "search", "api")
#: The files and folders of `ci` in order: each imports only those before it, also for types. Folders are kinds of test.
ORDER_IN_CI = (
    *("tails", "multiple_testing", "effect", "pooling", "engines", "unbound", "clusters", "missing"),
    *("tests_made", "bound", "base", "rates", "feature_groups", "target_regressions"),
    *("contingency", "linear", "joint_engine", "spline_functions", "predictive", "splines", "kernel", "nearest"),
    *("oracle", "adapters", "__init__", "choice"),
)
FILES = sorted(SOURCE.rglob("*.py"))


class WithoutTypeChecking(ast.NodeTransformer):
    """Leaves out what only type checkers read."""

    def visit_If(self, node: ast.If) -> ast.AST | list[ast.stmt]:
        return node.orelse if ast.unparse(node.test) == "TYPE_CHECKING" else self.generic_visit(node)


@cache
def imports(path: Path, for_types: bool = True) -> list[str]:
    """Absolute names of everything a file imports, inside functions too; for type checkers alone, too, `for_types`."""
    names = []
    tree = ast.parse(path.read_text(encoding="utf-8"))
    for node in ast.walk(tree if for_types else WithoutTypeChecking().visit(tree)):
        if isinstance(node, ast.Import):
            names += [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.level:
            folder = path.parents[node.level - 1]
            base = ".".join(folder.relative_to(SOURCE.parent).parts)
            base += f".{node.module}" if node.module else ""
            names += [f"{base}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            names += [f"{node.module}.{alias.name}" for alias in node.names]
    return names


def test_a_room_imports_only_the_rooms_below_it():
    wrong = []
    for path in FILES:
        parts = path.relative_to(SOURCE).parts
        allowed = {*ROOMS[parts[0]], parts[0], "__version__"} if len(parts) > 1 else ROOMS_OF_THE_PACKAGE
        rooms = {name.split(".")[1] for name in imports(path) if name.startswith("blanketflow.")}
        wrong += [f"{'/'.join(parts)} imports {room}" for room in sorted(rooms - {*allowed})]
    assert wrong == []


def test_the_rooms_stand_in_no_circle_and_no_module_stands_alone():
    assert [*TopologicalSorter(ROOMS).static_order()]  # raises CycleError
    assert {path.name for path in SOURCE.iterdir() if path.name != "__pycache__"} == {*ROOMS, "__init__.py"} | {
        path.name for path in SOURCE.glob("py.typed")
    }


def module_of(path: Path) -> str:
    name = ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts)
    return name.removesuffix(".__init__")


def test_no_file_needs_itself_by_way_of_others():
    """At run time, by imports inside functions too: who reads a file need not have read what it is read for."""
    files = {module_of(path): path for path in FILES}
    needs = {}
    for module, path in files.items():
        named = (name if name in files else name.rpartition(".")[0] for name in imports(path, for_types=False))
        needs[module] = {name for name in named if name in files and name != module}
    assert sum(map(len, needs.values())) > 1000  # imports are found
    assert [*TopologicalSorter(needs).static_order()]  # raises CycleError, which names the circle


def test_what_tests_share_imports_no_test_and_their_base_class_no_later_file():
    for path in FILES:
        parts = path.relative_to(SOURCE).with_suffix("").parts
        if parts[0] != "ci":
            continue
        for name in imports(path):
            if name.startswith("blanketflow.ci."):
                asked = next((one for one in ORDER_IN_CI if one == name.split(".")[2]), "__init__")
                assert ORDER_IN_CI.index(asked) <= ORDER_IN_CI.index(parts[1]), f"{'/'.join(parts)} imports {name}"


def test_nothing_imports_snakemake_and_core_imports_numpy_only():
    for path in FILES:
        roots = {name.split(".")[0] for name in imports(path)}
        assert "snakemake" not in roots, path
        if SOURCE / "core" in path.parents:
            assert roots - set(sys.stdlib_module_names) - {"blanketflow", "numpy"} == set(), path


@pytest.mark.parametrize("package", ["ci", "selectors", "models", "targets"])
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
    limits = {"src": 600, "scripts": 80, "rules": 220}
    for folder, limit in limits.items():
        for path in (REPO / folder).rglob("*"):
            if path.suffix in (".py", ".smk") and path != SOURCE / "api" / "selectors.py":  # which is generated
                assert len(path.read_text(encoding="utf-8").splitlines()) <= limit, path
    assert len((REPO / "Snakefile").read_text(encoding="utf-8").splitlines()) < 60
