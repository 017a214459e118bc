"""The arguments for Snakemake, parsed once, with the additions of ``blanketflow run``."""

from __future__ import annotations

import argparse
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from ..core.errors import ConfigError
from ..workflow.packaged_files import workflow_file
from .options import config_here
from .snakemake_plugins import check_executor, executor_of

#: Options with which Snakemake does not run jobs.
_NO_JOBS = (
    "--dry",
    "--print-compilation",
    "--lint",
    "--list",
    "--dag",
    "--d3dag",
    "--rulegraph",
    "--filegraph",
    "--summary",
)
_NO_JOBS += ("--detailed-summary", "--unlock", "--report", "--archive", "--cleanup", "--delete", "--version")
_NO_JOBS += ("--generate", "--containerize", "--edit", "--draft", "--touch")
_NO_JOBS_LETTERS = re.compile(r"-[a-zA-Z]*[nSDtv][a-zA-Z]*")
#: Those, and options that request Snakemake's own output.
_OWN_OUTPUT = (*_NO_JOBS, "--print", "--quiet", "--verbose", "--debug", "--logger")
_OWN_LETTERS = re.compile(r"-[a-zA-Z]*[nqplSDtv]")
#: Options that set the number of parallel jobs, or name a profile that does.
_CORES = re.compile(r"--(cores|jobs|profile|executor)\b|-[cje]")
#: Where Snakemake looks for a workflow.
_SNAKEFILES = ("Snakefile", "snakefile", "workflow/Snakefile", "workflow/snakefile")
#: Options with which jobs run in another environment, with its own kernels.
_OTHER_SOFTWARE = re.compile("--(sdm|software-deployment|deployment|use-conda|use-apptainer)")
#: Snakemake's options for a dry run.
_LOOKS = ("-n", "--dry-run", "--dryrun")


@dataclass(frozen=True)
class SnakemakeArguments:
    """The arguments for Snakemake and their meaning.

    `words` are the arguments as passed on. `snakefile` is the file of the workflow, `configs` are in merge order,
    `settings` has the keys set by ``--config``, and `directory` is the working directory. `executor` is the requested
    one, and `profiles` are folders or files, the first of which go before the others.
    """

    words: tuple[str, ...]
    snakefile: str
    configs: tuple[Path, ...]
    settings: Mapping[str, str]
    directory: Path
    executor: str = ""
    profiles: tuple[Path, ...] = ()

    def command(self, *first: str) -> list[str]:
        """Return the command that runs Snakemake with some arguments before these."""
        return [sys.executable, "-m", "snakemake", *first, *self.words]

    @property
    def runs_jobs(self) -> bool:
        """Whether Snakemake will run jobs."""
        return not any(map(runs_no_jobs, self.words))

    @property
    def wants_output(self) -> bool:
        """Whether Snakemake's own output is requested."""
        return any(map(asks_for_output, self.words))

    @property
    def only_plans(self) -> bool:
        """Whether this is a dry run."""
        asked = {word for word in self.words if asks_for_output(word)}
        return bool(asked) and asked <= {*_LOOKS}

    @property
    def runs_here(self) -> bool:
        """Whether jobs use the software of this process."""
        return self.runs_jobs and not any(map(_OTHER_SOFTWARE.match, self.words))

    def check_configs(self) -> None:
        """Raise `ConfigError` for an unreadable config of our workflow, where Snakemake might show a traceback."""
        from ..config.file import check_config_files

        used = Path(self.snakefile)
        # Configs of another workflow are not checked.
        if used.is_file() and used.resolve() == Path(workflow_file()).resolve():
            check_config_files(self.configs)

    def check_executor(self) -> None:
        """Raise `ConfigError` if the executor, of the command line or a profile, is not installed."""
        executor, where = (self.executor, "") if self.executor else executor_of(self.profiles)
        if executor:
            check_executor(executor, where)

    def output_folder(self) -> Path:
        """Return the results folder from arguments and configs."""
        import yaml

        output = "results"
        for path in filter(Path.is_file, self.configs):  # another workflow may have no config
            own = yaml.safe_load(path.read_text(encoding="utf-8-sig"))
            output = own.get("output", output) if isinstance(own, dict) else output
        return self.directory / self.settings.get("output", output)


def snakemake_arguments(words: Sequence[str]) -> SnakemakeArguments:
    """Parse the arguments and add what is missing: the workflow, its config, and the number of parallel jobs.

    Raises `ConfigError` if there is no config for our workflow, or more than one.
    """
    parser = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    parser.add_argument("--snakefile", "-s")
    parser.add_argument("--configfile", "--configfiles", nargs="+", type=Path, default=[])
    parser.add_argument("--config", "-C", nargs="*", default=[])
    parser.add_argument("--directory", "-d", type=Path, default=Path())
    parser.add_argument("--executor", "-e", default="")
    parser.add_argument("--profile", nargs="+", default=[os.environ.get("SNAKEMAKE_PROFILE", "none")])
    parser.add_argument("--workflow-profile", default="profiles/default")
    named = parser.parse_known_args(words)[0]
    snakefile = named.snakefile or next((name for name in _SNAKEFILES if Path(name).is_file()), None)
    configs, added = named.configfile, []
    if snakefile is None:
        snakefile = workflow_file()
        added += ["--snakefile", snakefile]
        if not configs:
            configs = [config_here(named.directory)]
            # With =, because Snakemake takes all following words for configs.
            added += [f"--configfile={configs[0]}"] if configs[0].name != "config.yaml" else []
    if not any(map(_CORES.match, words)):
        added = ["--cores", "all", *added]
    asked = named.workflow_profile
    profiles = [Path(place, name) for place in ("", Path(snakefile).parent) for name in (asked, f"profiles/{asked}")]
    profiles += [path for name in named.profile for path in (Path(_profile(name)), *_places(name))]
    return SnakemakeArguments(
        (*added, *_with_profiles(words)),
        snakefile,
        tuple(configs or [named.directory / "config.yaml"]),
        dict(setting.partition("=")[::2] for setting in named.config),
        named.directory,
        named.executor,
        tuple(profiles),
    )


def runs_no_jobs(word: str) -> bool:
    """Return whether an argument makes Snakemake do something other than run jobs."""
    if word.startswith("--report-after-run"):
        return False
    return word.startswith(_NO_JOBS) or bool(_NO_JOBS_LETTERS.fullmatch(word))


def asks_for_output(word: str) -> bool:
    """Return whether an argument requests Snakemake's own output."""
    return word.startswith(_OWN_OUTPUT) or bool(_OWN_LETTERS.fullmatch(word))


#: Other folders in which Snakemake finds a profile by name: the user's and the machine's.
_PROFILES = ("~/.config/snakemake", "~/Library/Application Support/snakemake", "/etc/xdg/snakemake")


def _with_profiles(arguments: Sequence[str]) -> list[str]:
    """Return the arguments with profile names replaced by paths: in profiles/ here, else packaged.

    Names that Snakemake finds itself are unchanged.
    """
    found, is_profile = [], False
    for word in arguments:
        option, equals, name = word.partition("=")
        if option == "--profile" and equals:
            found.append(f"--profile={_profile(name)}")
            continue
        found.append(_profile(word) if is_profile and not word.startswith("-") else word)
        is_profile = word == "--profile" or (is_profile and not word.startswith("-"))
    return found


def _profile(name: str) -> str:
    if "/" in name or name == "none" or any(path.exists() for path in _places(name)):
        return name
    here = Path("profiles", name)
    if here.is_dir():
        return str(here)
    try:
        return workflow_file(f"profiles/{name}")
    except ConfigError:
        return name  # Snakemake says what it looked for


def _places(name: str) -> list[Path]:
    """Return where Snakemake itself looks for a profile."""
    own = Path(os.environ.get("XDG_CONFIG_HOME") or "~/.config", "snakemake")
    return [Path(name), *(Path(folder, name).expanduser() for folder in (own, *_PROFILES))]
