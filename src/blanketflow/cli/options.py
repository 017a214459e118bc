"""What commands share: options with several values, arguments that name a table, completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand


class Repeated(TyperCommand):
    """A command that accepts several values after one option: ``--set a=1 b=2`` for ``--set a=1 --set b=2``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Repeat the option before each of its values, then parse as usual."""
        several = {name for param in self.params if getattr(param, "multiple", False) for name in param.opts}
        pairs = {name for param in self.params if (param.metavar or "").startswith("KEY=") for name in param.opts}
        return super().parse_args(ctx, list(repeated(args, several, pairs)))


def repeated(args: Sequence[str], several: set[str], pairs: set[str]) -> Iterator[str]:
    """Yield the arguments with the option repeated before each of its values, for the options in `several`.

    For the options in `pairs`, a word that is not ``key=value`` ends the option and is an argument of its own.

    Examples
    --------
    >>> list(repeated(["--set", "a=1", "b=2", "my.csv"], {"--set"}, {"--set"}))
    ['--set', 'a=1', '--set', 'b=2', 'my.csv']
    """
    option, is_first = "", False
    for at, word in enumerate(args):
        if word == "--":
            yield from args[at:]
            return
        if word.startswith("-") and len(word) > 1:
            option, is_first = (word, True) if word in several else ("", False)
            yield word
            continue
        if option and not is_first:
            if option in pairs and "=" not in word:
                option = ""
            else:
                yield option
        is_first = False
        yield word


def method_ids(incomplete: str) -> list[str]:
    """Complete the id of a method."""
    return _ids("blanketflow.selectors", incomplete)


def test_ids(incomplete: str) -> list[str]:
    """Complete the id of a CI test, or ``auto``."""
    return [name for name in ["auto"] if name.startswith(incomplete)] + _ids("blanketflow.ci", incomplete)


def model_ids(incomplete: str) -> list[str]:
    """Complete the id of a model."""
    return _ids("blanketflow.models", incomplete)


def all_ids(incomplete: str) -> list[str]:
    """Complete the id of a method, CI test or model."""
    return [*method_ids(incomplete), *test_ids(incomplete), *model_ids(incomplete)]


def _ids(package: str, incomplete: str) -> list[str]:
    from ..core.registry import discover

    return [name for name in discover(package) if name.startswith(incomplete)]


def files(incomplete: str) -> list[str]:
    """Complete the path of a file."""
    folder, _, start = incomplete.rpartition("/")
    beside = Path(folder or ("/" if incomplete.startswith("/") else "."))
    if not beside.is_dir():
        return []
    found = sorted(path for path in beside.iterdir() if path.name.startswith(start))
    return [f"{folder}/{path.name}" if "/" in incomplete else path.name for path in found]


def dataset_spec(
    table: str, target: str | None, more: Sequence[str] = (), several_targets: bool = False
) -> dict[str, Any]:
    """Return the keys of a data set in config.yaml, for a file, URL or source such as ``sklearn:wine``.

    The target is None if the source names one. `more` has further keys as ``key=value``, among them a list of targets
    where several are allowed.
    """
    from ..api.select import settings
    from ..config.reading import checked_dataset
    from ..config.targets import one_data_set_each

    is_source = not Path(table).exists() and ":" in table
    given = {"target": target} if target is not None else {}
    spec = {"source" if is_source else "path": table, **given, **settings(more)}
    for name, one in one_data_set_each([("table", spec)])[0] if several_targets else [("table", spec)]:
        checked_dataset(name, one)
    return spec


TABLE = "file or URL of a table, or a source such as sklearn:wine or openml:61 (docs/sources.md)"
Table = Annotated[str, typer.Argument(help=TABLE, autocompletion=files)]
Target = Annotated[str | None, typer.Option(help="column to predict")]
DataSet = Annotated[
    list[str] | None,
    typer.Option("--data-set", metavar="KEY=VALUE", help="keys of a data set in a config, such as drop=[id]"),
]
AsJson = Annotated[bool, typer.Option("--json", help="print JSON, for scripts")]
Seed = Annotated[int, typer.Option(help="seed of the random numbers", min=0)]
