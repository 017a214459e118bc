"""Files of the package that `make docs` writes: `api/selectors.py`, and the names in `blanketflow/__init__.py`."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterable
from pathlib import Path

import blanketflow
from blanketflow.api.arguments import code, own_arguments, sections
from blanketflow.core.registry import discover
from blanketflow.selectors.base import Method

PACKAGE = Path(blanketflow.__file__).parent
_WIDTH = 120
_HEAD = '''"""The selector class of each method, with the parameters of its signature for editors and type checkers.

Generated from the declarations by `make docs`; do not edit. When a class is created, `MarkovBlanketSelector` gives it
its ``__init__`` and completes its docstring: the method's text, the meaning and range of all parameters, the reference.
"""
# fmt: off
# ruff: noqa: E501 - the summary of a method may fill its line, and here its quotes close on it

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Literal

from ..ci.base import CITest
from ..core.registry import discover
from .estimator import MarkovBlanketSelector

'''


def selectors_text() -> str:
    """Return `api/selectors.py`."""
    known = {method.__name__: method for method in discover("blanketflow.selectors").values()}
    names = _listed(known)
    classes = [_class_text(known[name]) for name in sorted(known)]
    return "\n\n".join([f'{_HEAD}{names}\n_METHODS: Mapping[str, Any] = discover("blanketflow.selectors")\n', *classes])


def package_text(present: str) -> str:
    """Return `blanketflow/__init__.py` with all names of its functions and of the selector classes in ``__all__``."""
    functions = re.findall(r'^    "(\w+)": "\.', present, re.MULTILINE) + re.findall(r"^def ([a-z]\w+)", present, re.M)
    classes = [method.__name__ for method in discover("blanketflow.selectors").values()]
    return re.sub(
        r"^__all__ = \[.*?\]\n",
        lambda _: _listed({*functions, *classes}),
        present,
        count=1,
        flags=re.DOTALL | re.MULTILINE,
    )


def _class_text(method: type[Method]) -> str:
    summary = sections(method)[0].partition("\n\n")[0]
    lines = [
        f"class {method.__name__}(MarkovBlanketSelector):",
        f'    """{summary}"""\n',
        f'    method_class = _METHODS["{method.card.id}"]',
        *(f"    {a.name}: {a.annotation} = {code(a.default)}" for a in own_arguments(method)),
    ]
    return "\n".join(lines) + "\n"


def _filled(start: str, parts: Iterable[str], end: str, indent: str) -> str:
    """Return parts with commas between them, as many in a line as it holds, each whole."""
    whole = ", ".join(part.replace(" ", "\0") for part in parts) + end.replace(" ", "\0")
    filled = textwrap.fill(whole, _WIDTH, initial_indent=start, subsequent_indent=indent, break_on_hyphens=False)
    return filled.replace("\0", " ") + "\n"


def _listed(names: Iterable[str]) -> str:
    """Return the assignment of ``__all__``, sorted as ruff sorts it: in capitals, with a capital, others."""
    ordered = sorted(names, key=lambda name: (not name.isupper(), not name[0].isupper(), name))
    return _filled("__all__ = [", map(code, ordered), "]", "    ")


def write() -> None:
    """Write both files."""
    (PACKAGE / "api" / "selectors.py").write_text(selectors_text(), encoding="utf-8")
    package = PACKAGE / "__init__.py"
    package.write_text(package_text(package.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    write()
