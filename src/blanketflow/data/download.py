"""Files on other machines: those behind ``https://`` are downloaded once into the cache, with their digests.

URLs of object storage are only recognised here; the workflow fetches them.

pooch would keep the cache and check a known digest. It does not record the digest of a first download, limit sizes,
refuse redirections, hide credentials from other servers or trust the system's certificates. Snakemake's storage
plug-ins cannot be called from the library.
"""

from __future__ import annotations

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import unquote, urlsplit

from ..core.errors import ConfigError, DataError, StorageError
from ..core.folders import not_written
from ..core.printable import redacted
from .artefacts import read_json, replacing, write_json
from .secrets import check_no_secret, expanded, scrubbed

# --- the cache folder: downloads, results of queries, and facts about tables that take a full read to find ------------

#: The environment variable that names the folder.
VARIABLE = "BLANKETFLOW_CACHE"


def cache_folder() -> Path:
    """Return the cache folder: the environment variable's, else the user's own; it need not exist."""
    if os.environ.get(VARIABLE):
        return Path(os.environ[VARIABLE]).expanduser().absolute()
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches" / "blanketflow"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local") / "blanketflow"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "blanketflow"


@contextmanager
def storing(name: str, path: Path) -> Iterator[Path]:
    """Yield a temporary path beside a cached file, which it replaces on success.

    Raises `DataError` if it cannot be written.
    """
    try:
        cache_folder().mkdir(parents=True, exist_ok=True, mode=0o700)  # for this user: tables may be private
        with replacing(path) as temporary:
            yield temporary
    except (OSError, StorageError) as error:
        cause = error if isinstance(error, OSError) else error.__cause__
        why = not_written(path, cause, f"Set {VARIABLE} to a folder that can.")
        raise DataError(f"{name}: {why}") from error


#: Largest download in bytes, seconds to wait for an answer, and bytes read at a time.
MOST_BYTES = 4 * 2**30
TIMEOUT = 60
_CHUNK = 2**20
#: Keys of a spec that may be a URL.
_KEYS = ("path", "target_path")
_URL = re.compile(r"[a-z][a-z0-9+.-]*://")
_LOOPBACK = re.compile(r"localhost|127(\.\d{1,3}){3}|::1")


def is_web(path: object) -> bool:
    """Return whether a path is the URL of a web server.

    >>> is_web("https://host.org/table.csv"), is_web("s3://bucket/table.csv")
    (True, False)
    """
    return str(path).startswith(("https://", "http://"))


def key_of_place(table: str) -> str:
    """Return the key of a data set that takes a file, URL or source.

    >>> key_of_place("https://host.org/table.csv"), key_of_place("sklearn:wine")
    ('path', 'source')
    """
    return "source" if ":" in table and not is_web(table) and not Path(table).exists() else "path"


def is_remote(path: str | Path) -> bool:
    """Return whether a path is the URL of an object.

    >>> is_remote("s3://bucket/table.csv"), is_remote("data/table.csv"), is_remote("https://host/table.csv")
    (True, False, False)
    """
    return bool(_URL.match(str(path))) and not is_web(path)


def with_copies(spec: Mapping[str, Any], copy_of: Callable[[str], Path | str]) -> dict[str, Any]:
    """Return a spec with each URL of object storage replaced by `copy_of` it.

    >>> with_copies({"path": "s3://bucket/table.csv", "target": "y"}, lambda url: Path(url[5:]))["path"]
    'bucket/table.csv'
    """
    labels = {"labels": with_copies(spec["labels"], copy_of)} if spec.get("labels") else {}
    return {**spec, **labels, **{key: str(copy_of(spec[key])) for key in _KEYS if is_remote(spec.get(key) or "")}}


def with_downloads(name: str, spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return a spec that names the cache's copies of the files that it names by URL; raises as `download` does."""
    spec = dict(spec)
    if is_web(spec.get("source")):
        if spec.get("path"):
            raise ConfigError(f"{name}: give either source or path, and not both.")
        spec["path"], spec["source"] = spec["source"], None
    if is_web(spec.get("path")):
        spec["path"] = str(download(name, spec["path"], spec.get("sha256")))
    if is_web(spec.get("target_path")):
        spec["target_path"] = str(download(name, spec["target_path"]))
    return spec


def download(name: str, url: str, sha256: str | None = None, md5: str | None = None) -> Path:
    """Return the cached copy of a file, downloaded if it is not there.

    The server is not asked about a cached file. One that was deleted is downloaded again, and must have the same
    content. URLs are ``https://``, or ``http://`` on this machine; ``${NAME}`` is an environment variable. Digests are
    hexadecimal.

    Raises `ConfigError` for another kind of URL or one with a password; `DataError` if the file cannot be fetched, is
    too large, or has another digest.
    """
    check_no_secret(name, url)
    _check_form(name, url)
    shown, record_file = redacted(url), _record_file(url)
    if not _is_allowed(url):
        raise ConfigError(
            f"{name}: {shown} is not encrypted. Write https://, or download the file and give its path; http:// is for "
            "servers of this machine."
        )
    record = read_json(record_file) if record_file.is_file() else {}
    path = _copy(url, record)
    is_there = path.is_file() and path.stat().st_size == record.get("bytes")
    if is_there and (sha256 is None or record["sha256"] == sha256.lower()):
        return path
    new = record_file.with_suffix("")
    with storing(name, new) as temporary:
        found = _fetch(name, url, temporary)
        for kind, wanted in (("sha256", sha256), ("md5", md5)):
            if wanted is not None and found[kind] != wanted.lower():
                raise DataError(
                    f"{name}: {shown} has the {kind} {found[kind]}, but should have {wanted}. It is damaged, or "
                    "another file."
                )
        if sha256 is None and record and record["sha256"] != found["sha256"]:
            raise DataError(
                f"{name}: {shown} is another file than when it was first downloaded: its SHA-256 is "
                f"{found['sha256']}, it was {record['sha256']}. To take the new one, set sha256 to its digest or "
                f"delete {record_file}."
            )
    path = _copy(url, found)
    if path != new:
        _move(name, new, path, found["sha256"])
    with storing(name, record_file) as temporary:
        write_json(temporary, {"url": shown, **found})
    return path


def downloaded_digest(url: str, copy: Path | None = None) -> str:
    """Return the SHA-256 of a file that `download` fetched; `DataError` if the copy was changed.

    The `copy` must be given if the URL is redacted.
    """
    path = cached_file(url) if copy is None else copy
    found, record_file = _sha256(path), _record_file(url)
    is_recorded = record_file.is_file() and read_json(record_file)["sha256"] == found
    if not is_recorded and path != _by_content(url, found):
        raise DataError(f"{path}, downloaded from {redacted(url)}, is damaged. Delete it and run again.")
    return found


def cached_file(url: str) -> Path:
    """Return where the copy of a file is, or would be."""
    record_file = _record_file(url)
    return _copy(url, read_json(record_file) if record_file.is_file() else {})


def _copy(url: str, record: Mapping[str, Any]) -> Path:
    """Return the path of a file's copy, given its recorded facts.

    For a URL with a secret it depends on the content, so that neither the secret nor the next signature of the same
    link changes it.
    """
    return _place(url, url) if redacted(url) == url or not record else _by_content(url, record["sha256"])


def _by_content(url: str, sha256: str) -> Path:
    return _place(url, f"{redacted(url)} {sha256}")


def _record_file(url: str) -> Path:
    place = _place(url, url)
    return place.with_name(f"{place.name}.json")


def _place(url: str, told: str) -> Path:
    """Return a path in the cache by host and file of a URL, and by the hash of what is to tell it from others."""
    parts = urlsplit(redacted(url))
    host, file = (
        re.sub(r"[^\w.-]", "_", text).strip(".")[-100:]
        for text in (parts.hostname or "", unquote(parts.path.rpartition("/")[2]))
    )
    key = hashlib.blake2b(told.encode(), digest_size=8).hexdigest()
    return cache_folder() / "downloads" / (host or "host") / key / (file or "file")


def _move(name: str, new: Path, path: Path, sha256: str) -> None:
    """Move a download to its content's place; an equal file there keeps its time, so that nothing is recomputed."""
    if path.is_file() and _sha256(path) == sha256:
        new.unlink()
        return
    with storing(name, path) as temporary:
        os.replace(new, temporary)


def _sha256(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _check_form(name: str, url: str) -> None:
    """Raise `ConfigError` if a URL cannot be taken apart."""
    try:
        urlsplit(url).port  # noqa: B018 (which raises)
    except ValueError as error:
        raise ConfigError(f"{name}: {redacted(url)} is not a valid URL ({scrubbed(error, url)}). Correct it.") from None


def _is_allowed(url: str) -> bool:
    parts = urlsplit(url)
    return parts.scheme == "https" or (parts.scheme == "http" and bool(_LOOPBACK.fullmatch(parts.hostname or "")))


def _fetch(name: str, url: str, to: Path) -> dict[str, Any]:
    """Write what a URL answers to a file, and return its length and digests."""
    import http.client
    import urllib.error

    sha256, md5, n_bytes, head = hashlib.sha256(), hashlib.md5(usedforsecurity=False), 0, b""
    try:
        with _answer(name, url) as answer, open(to, "wb") as file:
            promised = int(answer.headers.get("Content-Length") or 0)
            _check_size(name, url, promised)
            while part := answer.read(_CHUNK):
                n_bytes += len(part)
                _check_size(name, url, n_bytes)
                head = head or part[:1000]
                sha256.update(part)
                md5.update(part)
                file.write(part)
    except urllib.error.HTTPError as error:
        _failed(name, url, f"the server answers {error.code} {error.reason}", _REMEDY.get(error.code))
    except urllib.error.URLError as error:
        _failed(name, url, str(error.reason))
    except TimeoutError:
        _failed(name, url, f"no answer for {TIMEOUT} seconds")
    except (http.client.HTTPException, ConnectionError, ValueError) as error:
        if isinstance(error, (ConfigError, DataError)):
            raise
        _failed(name, url, f"{type(error).__name__} {error}".strip())
    if promised and n_bytes != promised:
        _failed(name, url, f"the connection broke after {n_bytes} of {promised} bytes")
    if head.lstrip().lower().startswith((b"<!doctype html", b"<html")):
        _failed(name, url, "the answer is a web page", "Take the link of the file itself; it may need a login.")
    return {"bytes": n_bytes, "sha256": sha256.hexdigest(), "md5": md5.hexdigest()}


_REMEDY = {
    401: "Give credentials as https://user:${PASSWORD}@...",
    403: "You may need credentials.",
    404: "Check the URL.",
}


def _failed(name: str, url: str, why: str, remedy: str | None = None) -> NoReturn:
    remedy = remedy or "Try again later, or download the file and give its path."
    raise DataError(f"{name}: {redacted(url)} cannot be downloaded: {scrubbed(why, url)}. {remedy}") from None


def _check_size(name: str, url: str, n_bytes: int) -> None:
    if n_bytes > MOST_BYTES:
        why = f"it is larger than {MOST_BYTES / 1e9:.1f} GB"
        _failed(name, url, why, "Download it by other means and give its path.")


def _answer(name: str, url: str) -> Any:
    """Open a URL; credentials go to its own server only, and no redirection leads to less than https."""
    import base64
    import urllib.request

    class Redirect(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, request: Any, handle: Any, code: int, reason: str, headers: Any, to: str) -> Any:
            was, will_be = urlsplit(request.full_url).scheme, urlsplit(to).scheme
            if not _is_allowed(to) or (was, will_be) == ("https", "http"):
                _failed(name, url, f"it leads to {will_be}://{urlsplit(to).hostname}", "Check whether that is right.")
            return super().redirect_request(request, handle, code, reason, headers, to)

    parts = urlsplit(expanded(name, url))
    host = parts.netloc.rpartition("@")[2]
    request = urllib.request.Request(parts._replace(netloc=host, fragment="").geturl())  # noqa: S310 (checked above)
    if parts.username:
        user = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        request.add_unredirected_header("Authorization", f"Basic {base64.b64encode(user.encode()).decode()}")
    handlers: list[Any] = [Redirect()]
    if _LOOPBACK.fullmatch(parts.hostname or ""):
        handlers.append(urllib.request.ProxyHandler({}))
    return urllib.request.build_opener(*handlers).open(request, timeout=TIMEOUT)
