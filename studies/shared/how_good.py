"""The sentences of README.md and docs/how-good.md, which the studies write that they come from."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from studies.shared.page import ROOT, write


def say(study: str, sentence: str, *, page: str, more: Sequence[str] = ()) -> None:
    """Write a study's sentence into README.md with a link to its page, and all its sentences into docs/how-good.md."""
    for file, link, said in (
        ("README.md", page, [sentence]),
        ("docs/how-good.md", f"../{page}", [sentence, *more]),
    ):
        text = f"{' '.join(said)} ([the study]({link}))"
        write(ROOT / file, {study: "\n".join(textwrap.wrap(text, 120, break_on_hyphens=False, break_long_words=False))})
