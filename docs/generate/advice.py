"""The table of docs/choosing.md that says what to begin with; `make docs` writes it between two comments."""

from __future__ import annotations

from pathlib import Path

from blanketflow.api.advice import ADVICE

from .markdown import between, table


def choosing_text(present: str) -> str:
    """Return docs/choosing.md with the table of `blanketflow.api.advice`.

    Examples
    --------
    >>> "| the features to keep to predict | any table |" in choosing_text("<!-- advice --><!-- end of advice -->")
    True
    """
    rows = []
    for advice in ADVICE:
        options = "".join(f", `{key}: {value}`" for key, value in advice.options.items())
        why = f"{advice.why}; {advice.measured}" if advice.measured else advice.why
        rows.append((advice.want, advice.situation, f"[{advice.method}](methods/{advice.method}.md){options}", why))
    written = table(["you want", "table", "begin with", "why"], rows)
    return between(present, "advice", written)


def main() -> None:
    """Write the table into docs/choosing.md."""
    path = Path(__file__).parents[1] / "choosing.md"
    path.write_text(choosing_text(path.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
