"""What can happen to the files of a folder of results: deleted, cut, changed by a bit, or put in another's place."""

import random
import shutil
from pathlib import Path

#: Each is as likely as another.
WAYS = ("delete", "flip", "cut", "empty", "copy", "swap", "touch")


def disturb(rng: random.Random, output: Path) -> str:
    """Do something to a file of a folder of results; return what."""
    files = sorted(path for path in output.rglob("*") if path.is_file() and path.name != "run-lock")
    if len(files) < 2:
        return "nothing: there are no files"
    path, other = rng.sample(files, 2)
    way = rng.choice(WAYS)
    content = bytearray(path.read_bytes())
    if way == "delete":
        path.unlink()
    elif way == "flip" and content:
        content[rng.randrange(len(content))] ^= 1 << rng.randrange(8)
        path.write_bytes(content)
    elif way == "cut":
        path.write_bytes(content[: rng.randrange(len(content) + 1)])
    elif way == "empty":
        path.write_bytes(b"")
    elif way == "copy":
        shutil.copy2(path, other)
    elif way == "swap":
        aside = path.with_name("aside")
        path.rename(aside)
        other.rename(path)
        aside.rename(other)
    elif way == "touch":
        path.touch()
    return f"{way} {path} {other}"
