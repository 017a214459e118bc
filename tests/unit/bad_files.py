"""Files of tests/bad_input.yaml that are too large or too odd to be written there: each function writes one."""

import numpy as np


def study(path):
    """A good table: 40 rows; `few` has a class of two, `same` one value, `gaps` a missing cell."""
    rng = np.random.default_rng(3)
    lines = ["a,b,few,same,gaps,outcome"]
    for i in range(40):
        cells = [f"{rng.normal():.3f}", f"{rng.normal():.3f}", "rare" if i < 2 else "common", "yes"]
        lines.append(",".join([*cells, "" if i == 5 else "1.5", "ill" if i % 2 else "well"]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def garbage(path):
    """Bytes that are no text."""
    path.write_bytes(b"\x80\xff" + np.random.default_rng(3).integers(0, 256, 4000, dtype=np.uint8).tobytes())
