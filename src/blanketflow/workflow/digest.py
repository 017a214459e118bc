"""Digests of source code: which files can change a rule's result, and what they hold.

Snakemake does not see imported modules, so each rule gets the digest of the files that its script, method and test
reach by imports.
"""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.util
from pathlib import Path

PACKAGE = "blanketflow"
ROOT = Path(__file__).parents[1]


@functools.cache
def code_digest(*starts: Path) -> str:
    """Return a digest of files and of every module of this package that they import, in functions too.

    Parameters
    ----------
    *starts : Path
        Python files, and others that a result is made of.
    """
    found: set[Path] = set()
    pending = [start.resolve() for start in starts]
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending.extend(_imports(path) if path.suffix == ".py" else ())
    parts = sorted((path.name, _content(path)) for path in found)
    return hashlib.blake2b("\n".join(f"{name} {digest}" for name, digest in parts).encode(), digest_size=12).hexdigest()


def module_file(module_name: str) -> Path:
    """Return the file of an importable module."""
    spec = importlib.util.find_spec(module_name)
    return Path(spec.origin)


@functools.cache
def _content(path: Path) -> str:
    # Without the last end of line, which a script that Snakemake fetches from a repository has lost.
    return hashlib.blake2b(path.read_bytes().rstrip(), digest_size=12).hexdigest()


@functools.cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Return the files of this package that a file imports."""
    files: list[Path] = []
    for node in ast.walk(ast.parse(path.read_bytes())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            base = _absolute(path, node)
            names = [base, *(f"{base}.{alias.name}" for alias in node.names)]
        else:
            continue
        files.extend(file for name in names if name.split(".")[0] == PACKAGE for file in _files_of(name))
    return tuple(files)


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    if ROOT not in path.parents:
        return ""  # a plug-in's own package
    package = path.parent
    for _ in range(node.level - 1):
        package = package.parent
    parts = package.relative_to(ROOT.parent).parts
    return ".".join([*parts, *([node.module] if node.module else [])])


@functools.cache
def _files_of(module_name: str) -> tuple[Path, ...]:
    """Return a module's file and those of the packages that contain it."""
    files, folder = [], ROOT.parent
    for part in module_name.split("."):
        if (folder / part).is_dir():
            folder = folder / part
            files.append(folder / "__init__.py")
        elif (folder / f"{part}.py").is_file():
            files.append(folder / f"{part}.py")
            break
        else:
            break
    # The package's own __init__ loads everything on demand and computes nothing.
    return tuple(file for file in files if file.is_file() and file != ROOT / "__init__.py")
