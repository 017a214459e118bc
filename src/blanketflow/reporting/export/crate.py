"""A finished run as a Workflow Run RO-Crate: its results with the workflow, searches, digests and versions."""

from __future__ import annotations

import hashlib
import json
import mimetypes
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from ...core.errors import DataError
from ..tables import TABLES
from .bibtex import as_bibtex
from .methods_text import as_methods

if TYPE_CHECKING:
    from .exported_run import ExportedRun

METADATA = "ro-crate-metadata.json"
#: The main entity.
SNAKEFILE = "workflow/Snakefile"
#: The paragraphs on methods.
README = "README.md"
_CONTEXT = ["https://w3id.org/ro/crate/1.1/context", "https://w3id.org/ro/terms/workflow-run/context"]
_CRATE, _WORKFLOW_CRATE = "https://w3id.org/ro/crate/1.1", "https://w3id.org/workflowhub/workflow-ro-crate/1.0"
#: Profiles that the root conforms to, with name and version.
_PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": ("Process Run Crate", "0.5"),
    "https://w3id.org/ro/wfrun/workflow/0.5": ("Workflow Run Crate", "0.5"),
    _WORKFLOW_CRATE: ("Workflow RO-Crate", "1.0"),
}
_SNAKEMAKE = "https://w3id.org/workflowhub/workflow-ro-crate#snakemake"
_COMPLETED = "http://schema.org/CompletedActionStatus"
_LICENSE = "#license"
_TYPES = {".parquet": "application/vnd.apache.parquet", ".md": "text/markdown", ".bib": "application/x-bibtex"}


def as_crate(exported: ExportedRun) -> dict[str, str | bytes]:
    """Return the files of a crate by name; rows of the tables are not among them, only their digests.

    Raises
    ------
    DataError
        If only a part of the run is asked for.
    """
    run = exported.run
    if exported.selector or len(exported.datasets) < len(run.cards):
        raise DataError("--to crate packs a whole run. Leave --dataset and --selector out.")
    files = {name: path.read_bytes() for name, path in exported.files.items()}
    results = [name for name in files if name != SNAKEFILE]
    told = {README: as_methods(exported), "methods.bib": as_bibtex(exported)}
    asked = {"config.json": run.provenance["config"]} | {
        f"searches/{dataset}/{selector}.json": {"search": search}
        for dataset, of_data in run.searches.items()
        for selector, search in of_data.items()
    }
    files |= {name: text.encode() for name, text in told.items()}
    files |= {name: (json.dumps(value, indent=2, sort_keys=True) + "\n").encode() for name, value in asked.items()}
    graph = _graph(exported, files, [*asked], results)
    metadata = json.dumps({"@context": _CONTEXT, "@graph": graph}, indent=2, ensure_ascii=False) + "\n"
    return {METADATA: metadata, **files}


def _graph(
    exported: ExportedRun, files: Mapping[str, bytes], asked: list[str], results: list[str]
) -> list[dict[str, Any]]:
    run, known = exported.run, exported.run.provenance
    ended = datetime.fromtimestamp(int(exported.ended), UTC).isoformat()
    tables = [_table(name, run.cards[name]) for name in run.cards]
    packages = [_software(name, version) for name, version in sorted(known["packages"].items())]
    itself = _software("blanketflow", known["blanketflow"]) | {
        "softwareRequirements": _links(packages),
        "operatingSystem": known["platform"],
        "runtimePlatform": f"Python {known['python']}",
    }
    seed = {"@id": "#seed", "@type": "PropertyValue", "name": "seed of all random numbers", "value": str(known["seed"])}
    action = {
        "@id": "#run",
        "@type": "CreateAction",
        "name": "Run of blanketflow",
        "description": f"Feature selection on {', '.join(run.cards)} by {', '.join(run.selectors)}, scored on rows "
        "that the selection had not seen.",
        "instrument": {"@id": SNAKEFILE},
        "object": [*({"@id": quote(name)} for name in asked), *_links(tables), {"@id": "#seed"}],
        "result": [{"@id": quote(name)} for name in results],
        "endTime": ended,
        "actionStatus": _COMPLETED,
    }
    root = {
        "@id": "./",
        "@type": "Dataset",
        "name": f"Feature selection on {', '.join(run.cards)}",
        "description": "Results of a run of blanketflow: a report, result tables and figures, with the searches that "
        "found them. The tables searched are not included; their digests are.",
        "datePublished": ended,
        "license": {"@id": _LICENSE},
        "conformsTo": [{"@id": profile} for profile in _PROFILES],
        "hasPart": [{"@id": quote(name)} for name in files],
        "mainEntity": {"@id": SNAKEFILE},
        "mentions": {"@id": "#run"},
    }
    return [
        {
            "@id": METADATA,
            "@type": "CreativeWork",
            "about": {"@id": "./"},
            "conformsTo": [{"@id": _CRATE}, {"@id": _WORKFLOW_CRATE}],
        },
        root,
        *(
            {"@id": profile, "@type": "CreativeWork", "name": name, "version": version}
            for profile, (name, version) in _PROFILES.items()
        ),
        {
            "@id": _LICENSE,
            "@type": "CreativeWork",
            "name": "not stated",
            "description": "Nobody has stated a licence of these results. State one here before you publish them.",
        },
        action,
        *(_file(name, content, known) for name, content in files.items()),
        *tables,
        seed,
        itself,
        *packages,
        {"@id": _SNAKEMAKE, "@type": "ComputerLanguage", "name": "Snakemake", "url": "https://snakemake.github.io"},
    ]


def _file(name: str, content: bytes, known: Mapping[str, Any]) -> dict[str, Any]:
    """Return a file of the crate with its digest; that of the workflow has what its profile asks for."""
    path = PurePosixPath(name)
    kind = _TYPES.get(path.suffix) or mimetypes.guess_type(name)[0] or "text/plain"
    entity: dict[str, Any] = {"@id": quote(name), "@type": "File", "name": name}
    if path.parts[0] == "tables" and path.stem in TABLES:
        entity["description"] = TABLES[path.stem].holds
    entity |= {"encodingFormat": kind, "contentSize": str(len(content)), "sha256": hashlib.sha256(content).hexdigest()}
    if name == README:
        entity |= {"name": "methods of the run", "about": {"@id": "./"}}
    if name == SNAKEFILE:
        entity |= {
            "@type": ["File", "SoftwareSourceCode", "ComputationalWorkflow"],
            "name": "workflow of blanketflow",
            "version": known["blanketflow"],
            "programmingLanguage": {"@id": _SNAKEMAKE},
            "softwareRequirements": {"@id": "#blanketflow"},
        }
    return entity


def _table(name: str, card: Mapping[str, Any]) -> dict[str, Any]:
    """Return a table that was searched, without its rows."""
    return {
        "@id": f"#table-{name}",
        "@type": "CreativeWork",
        "name": f"table {name}",
        "description": f"{card['n_rows']} rows and {card['n_features']} features; target {card['target']['name']}",
        "identifier": f"blake2b:{card['content_hash']}",
    }


def _software(name: str, version: str) -> dict[str, Any]:
    return {"@id": f"#{name}", "@type": "SoftwareApplication", "name": name, "softwareVersion": version}


def _links(entities: list[dict[str, Any]]) -> list[dict[str, str]]:
    return [{"@id": entity["@id"]} for entity in entities]
