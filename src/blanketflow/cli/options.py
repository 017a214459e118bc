"""Options shared by commands: several values per option, arguments that name a table, completion."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from ..core.errors import ConfigError, shown
from .terminal import note


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


def check_page(page: Path | None) -> None:
    """Raise an error if the page of ``--html`` is no file that ends in .html."""
    if page is not None and page.suffix.lower() not in (".html", ".htm"):
        raise ConfigError(f"--html is {shown(str(page))}, but must be a file to write that ends in .html.")


def write_page(path: Path, page: str) -> None:
    """Write a page, and say so."""
    from ..data.artefacts import write_text

    write_text(path, page)
    note(f"Wrote {path}.")


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
    """Return the config keys of a data set from a file, URL or source such as ``sklearn:wine``.

    The target is None if the source names one. `more` has further ``key=value`` pairs, possibly with a list of targets.
    """
    from ..api.select_command import settings
    from ..config.reading import checked_dataset, one_data_set_each
    from ..data.download import key_of_place
    from ..targets.forms import with_own_column

    given = {"target": target} if target is not None else {}
    spec = with_own_column("table", {key_of_place(table): table, **given, **settings(more)})
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


# --- the config of a command if none is named, and a config named without its option ----------------------------------


def config_here(folder: Path = Path()) -> Path:
    """Return the config of a folder and print its name if it is not the usual one.

    Raises `ConfigError` if there is none, or several and none is called config.yaml.
    """
    usual = folder / "config.yaml"
    if usual.is_file():
        return usual
    found = sorted(path for path in folder.glob("*.yaml") if _is_config(path))
    if not found:
        where = "this folder" if folder == Path() else shown(str(folder))
        raise ConfigError(
            f"there is no config.yaml in {where}. Write a config with blanketflow init data.csv --target y; "
            "blanketflow run then takes it."
        )
    if len(found) > 1:
        names = ", ".join(path.name for path in found)
        raise ConfigError(f"there are several configs and no config.yaml: {names}. Name one: --configfile {found[0]}.")
    note(f"The config is {found[0]}.")
    return found[0]


def check_is_no_config(word: str) -> None:
    """Raise `ConfigError` if an argument that Snakemake takes for a target is a config or its folder."""
    if word.endswith((".yaml", ".yml")) and _is_config(Path(word)):
        option = "--configfile"
    elif word and any(map(_is_config, Path(word).glob("*.yaml"))):
        option = "--directory"
    else:
        return
    raise ConfigError(f"{shown(word)} is not an output of the workflow. Write {option} before it.")


def _is_config(path: Path) -> bool:
    """Whether a file looks like a config; errors in it are reported when it is read."""
    try:
        lines = path.read_text(encoding="utf-8-sig", errors="replace").splitlines()
    except OSError:
        return False
    return any(line.startswith(("datasets:", '"datasets":')) for line in lines)
