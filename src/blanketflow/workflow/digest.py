"""Digests of source code: what can change a rule's result, whatever its wording and formatting.

Snakemake does not see imported modules, so each rule gets the digest of all files that its script, method and test
reach by imports. A Python file counts by its syntax tree without docstrings and comments: a reworded sentence reruns
nothing. The tree is written in a form of our own, because `ast.dump` differs between versions of Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

PACKAGE = "blanketflow"
ROOT = Path(__file__).parents[1]
#: Parts of a syntax tree that do not change what the code does. A text's prefix (``u""``) is its ``kind``.
_WITHOUT_EFFECT = {"ctx", "kind", "type_comment", "type_ignores"}
#: Parts of a statement that hold statements: looking for imports there only takes a tenth of a walk of the whole tree.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")


@functools.cache
def code_digest(*starts: Path) -> str:
    """Return a digest of files and of every module of this package that they import, in functions too.

    It is equal for all versions of Python, and for a clone and an installed package.

    Parameters
    ----------
    *starts : Path
        Python files, and others that a result is made of.
    """
    return _hash("\n".join(sorted(_read(path)[0] for path in files_of(*starts))).encode())


def files_of(*starts: Path) -> set[Path]:
    """Return files and every module of this package that they import, in functions too."""
    found: set[Path] = set()
    pending = [start.resolve() for start in starts]
    while pending:
        path = pending.pop()
        if path not in found:
            found.add(path)
            pending.extend(_read(path)[1])
    return found


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


@functools.cache
def _read(path: Path) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a file's content, and the files of this package that it imports."""
    content = path.read_bytes()
    if path.suffix != ".py":
        # Without the last end of line, which a file that Snakemake fetches from a repository has lost.
        return _hash(content.rstrip()), ()
    tree = ast.parse(content)
    return _hash(repr(syntax(tree)).encode()), _imports(path, tree)


def syntax(node: ast.AST) -> list[Any]:
    r"""Return a syntax tree as nested lists of texts, without docstrings, comments, formatting and empty parts.

    Examples
    --------
    >>> tree = ast.parse("def double(x):\n    'Return twice x.'\n    return 2 * x  # not x + x")
    >>> syntax(tree) == syntax(ast.parse("def double( x ): return (2*x)"))
    True
    >>> syntax(tree) == syntax(ast.parse("def double(x): return 3 * x"))
    False
    """
    form: list[Any] = [type(node).__name__]
    for name in node._fields:
        value = getattr(node, name, None)
        if value is None or value == [] or name in _WITHOUT_EFFECT:
            continue
        if isinstance(value, ast.AST):
            value = syntax(value)
        elif isinstance(value, list):
            parts = _joined(value) if isinstance(node, ast.JoinedStr) else value
            value = [syntax(v) if isinstance(v, ast.AST) else repr(v) for v in parts if not _is_bare_text(v)]
        else:
            value = repr(value)
        form += [name, value]
    if isinstance(node, ast.Constant) and node.value is None:
        form += ["value", "None"]
    return form


def _is_bare_text(node: Any) -> bool:
    """Whether a statement is a text that does nothing, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _joined(parts: list[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with neighbouring texts as one: Python's versions cut them differently."""
    found: list[ast.expr] = []
    for part in parts:
        if isinstance(part, ast.Constant) and found and isinstance(found[-1], ast.Constant):
            found[-1] = ast.Constant(found[-1].value + part.value)
        elif not (isinstance(part, ast.Constant) and part.value == ""):
            found.append(part)
    return found


def _imports(path: Path, tree: ast.AST) -> tuple[Path, ...]:
    """Return the files of this package that a file imports."""
    files: list[Path] = []
    for statement in _import_statements(tree):
        if isinstance(statement, ast.Import):
            names = [alias.name for alias in statement.names]
        else:
            base = _absolute(path, statement)
            names = [base, *(f"{base}.{alias.name}" for alias in statement.names)]
        files.extend(file for name in names if name.split(".")[0] == PACKAGE for file in _files_of(name))
    return tuple(files)


def _import_statements(node: ast.AST) -> Iterator[ast.Import | ast.ImportFrom]:
    """Yield the import statements of a file, in functions and classes too."""
    for block in _BLOCKS:
        for inner in getattr(node, block, ()):
            if isinstance(inner, ast.Import | ast.ImportFrom):
                yield inner
            else:
                yield from _import_statements(inner)


def _absolute(path: Path, node: ast.ImportFrom) -> str:
    if not node.level:
        return node.module or ""
    if ROOT not in path.parents:
        return ""  # a plug-in's own package
    parts = path.parents[node.level - 1].relative_to(ROOT.parent).parts
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
