# Locations of files: scripts relative to this file, and data sets here or in object storage.
#
# inputs:  scripts; files of data sets with a URL as path, such as s3://bucket/table.csv
# outputs: local copies of the latter, below .snakemake/storage

import os
from pathlib import Path

from snakemake.exceptions import WorkflowError

from blanketflow.core.errors import DataError
from blanketflow.data.download import is_remote


def script_file(name):
    """A rule's script: also of a module, and of one that is fetched from a repository."""
    return workflow.source_path(f"../scripts/{name}")


def source_file(path):
    """A data set's file as an input: where its path says, whatever the default storage and a module's prefix."""
    return storage(path, keep_local=True) if is_remote(path) else local(path)


def kept(paths):
    """Outputs whose earlier files stay for the job to use; not in object storage, from where it would not get them."""
    is_here = workflow.storage_settings.default_storage_provider is None
    return update(paths) if is_here else paths


def fetch(dataset, path):
    """The local copy of a file in object storage; fetched once, and again when the file is another one."""
    try:
        stored = source_file(path).flags["storage_object"]
        if not workflow.async_run(stored.managed_exists()):
            raise DataError(f"{dataset}: there is no {path}. Check the key path.")
        copy, mtime = Path(stored.local_path()), stored.mtime()
        if not copy.is_file() or copy.stat().st_mtime != mtime:
            workflow.async_run(stored.managed_retrieve())
            # As old as the file, so that results of the file count as newer.
            os.utime(copy, (mtime, mtime))
        return copy
    except WorkflowError as error:
        why = ": ".join(str(error).splitlines())
        raise DataError(
            f"{dataset}: {path} cannot be fetched ({why}). Check the key path, the credentials and the storage "
            "plugin: blanketflow explain docs/object-storage.md."
        ) from error
