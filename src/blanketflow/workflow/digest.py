"""Digests of the source code that can change a rule's result.

Snakemake does not see imported modules, so each rule gets a digest of all files that its script, method and test
import, directly or not. A Python file enters by its syntax tree without docstrings and comments, so that rewording
reruns nothing. In a file with several methods only the configured one counts. The text form of the tree is our own:
`ast.dump` differs between versions of Python.
"""

from __future__ import annotations

import ast
import functools
import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

PACKAGE = "blanketflow"
ROOT = Path(__file__).parents[1]
#: Fields of a syntax tree without effect on the code. ``kind`` is the prefix of a string (``u""``).
_WITHOUT_EFFECT = {"ctx", "kind", "type_comment", "type_ignores"}
#: Fields of a statement that hold statements: imports are searched only there, in a tenth of the time of a full walk.
_BLOCKS = ("body", "orelse", "finalbody", "handlers", "cases")
#: A file, or a class in a file with other methods, tests or models.
Start = Path | tuple[Path, str]


@functools.cache
def code_digest(*starts: Start) -> str:
    """Return a digest of files and of all modules of this package that they import, in functions too.

    It is equal for all versions of Python, and for a clone and an installed package. A start is a file or a pair of
    file and class name; with a name, other classes with a card count only if that class uses them.
    """
    return _hash("\n".join(sorted({_read(*unit)[0] for unit in _reached(starts)})).encode())


def files_of(*starts: Start) -> set[Path]:
    """Return files and all modules of this package that they import, in functions too."""
    return {path for path, _ in _reached(starts)}


def _reached(starts: Iterable[Start]) -> set[tuple[Path, str]]:
    """Return the files that count, each with the name of the class that counts (empty for the whole file)."""
    found: set[tuple[Path, str]] = set()
    pending = [(start.resolve(), "") if isinstance(start, Path) else (start[0].resolve(), start[1]) for start in starts]
    while pending:
        unit = pending.pop()
        if unit not in found:
            found.add(unit)
            pending.extend((path, "") for path in _read(*unit)[1])
    return found


def _hash(content: bytes) -> str:
    return hashlib.blake2b(content, digest_size=12).hexdigest()


@functools.cache
def _read(path: Path, only: str) -> tuple[str, tuple[Path, ...]]:
    """Return the digest of a file, or of one class and what it uses, and the files that it imports."""
    content = path.read_bytes()
    if path.suffix != ".py":
        # Files that Snakemake fetches from a repository have lost the last newline.
        return _hash(content.rstrip()), ()
    tree = ast.parse(content)
    if only:
        tree.body = _with_what_it_uses(tree.body, only)
    return _hash(repr(syntax(tree)).encode()), _imports(path, tree)


def _with_what_it_uses(statements: list[ast.stmt], name: str) -> list[ast.stmt]:
    """Return a file's statements without classes with a card that the named class does not use.

    All statements count if there is no such class, as when a function creates it.
    """
    if name not in {node.name for node in statements if isinstance(node, ast.ClassDef)}:
        return statements
    apart = {node.name: node for node in statements if isinstance(node, ast.ClassDef) and _has_card(node)}
    apart.pop(name, None)
    pending = [node for node in statements if node not in apart.values()]
    while pending:
        used = {inner.id for node in pending for inner in ast.walk(node) if isinstance(inner, ast.Name)}
        pending = [apart.pop(other) for other in used & apart.keys()]
    return [node for node in statements if node not in apart.values()]


def _has_card(node: ast.ClassDef) -> bool:
    """Whether a class is a method, a test or a model of its own."""
    return any(isinstance(part, ast.AnnAssign) and ast.unparse(part.target) == "card" for part in node.body)


def syntax(node: ast.AST) -> list[Any]:
    r"""Return a syntax tree as nested lists of texts, without docstrings, comments, formatting and empty parts.

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
    """Whether a statement is a bare string, such as a docstring."""
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _joined(parts: list[ast.expr]) -> list[ast.expr]:
    """Return the parts of an f-string with adjacent texts merged: versions of Python split them differently."""
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
    """Return the file of a module and those of its parent packages."""
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
    # The package's own __init__ only loads on demand.
    return tuple(file for file in files if file.is_file() and file != ROOT / "__init__.py")
