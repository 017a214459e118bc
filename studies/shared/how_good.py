"""The sentences of README.md, docs/how-good.md and the paper, which the studies write that they come from."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from studies.shared.page import ROOT, write


def say(study: str, sentence: str, *, page: str, more: Sequence[str] = ()) -> None:
    """Write a study's sentence, with its page, into README.md and the paper, and all of them into docs/how-good.md."""
    for file, where, said in (
        ("README.md", f"[the study]({page})", [sentence]),
        ("docs/how-good.md", f"[the study](../{page})", [sentence, *more]),
        ("paper/paper.md", f"`{page}`", [sentence]),
    ):
        text = f"{' '.join(said)} ({where})"
        write(ROOT / file, {study: "\n".join(textwrap.wrap(text, 120, break_on_hyphens=False, break_long_words=False))})
