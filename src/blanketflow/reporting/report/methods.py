"""The settings of each selector, the guarantee of its method and the known error rate of its test."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from markupsafe import Markup

from ...core.cards import Card
from ..text import linked, plain
from .run import Run

_HIDDEN = ("method", "ci_test", "grain", "options")  # options are listed one by one with the other settings
#: False-positive rate of the marginal PPI test by n_repeats, as measured by studies/calibration/ppi_false_positives.py.
_WILCOXON = {5: "2 to 3 %", 10: "9 to 10 %", 30: "21 to 22 %", 100: "30 to 31 %"}
_HOW = "at alpha 0.05, n = 100 and 200, target independent of the feature, 1,000 columns each"


@dataclass(frozen=True)
class Method:
    """One selector as the report explains it."""

    selector: str
    name: str
    settings: list[tuple[str, str]]
    facts: list[tuple[str, str | Markup]]
    calibration: str = ""


def methods(run: Run) -> list[Method]:
    """Return every selector with its settings and its method's card."""
    return [_method(selector, spec, run.method_cards) for selector, spec in run.selectors.items()]


def _method(selector: str, spec: Mapping[str, Any], known: Mapping[str, Card]) -> Method:
    card = known.get(spec.get("method", selector))
    test = _test_options(spec.get("ci_test"))
    is_chosen = test.get("type") == "auto"
    test_card = None if is_chosen else known.get(test.get("type", ""))
    settings = [(key, plain(value)) for key, value in spec.items() if key not in _HIDDEN]
    facts: list[tuple[str, str | Markup]] = []
    if card:
        facts += [("Method", card.summary), ("Guarantee", card.guarantee)]
        facts += [("Ranks by", card.formula)] if card.formula else []
        facts += [("Importance", card.means_by_importance)] if card.means_by_importance else []
        facts += [("Cost", card.cost)] if card.cost else []
        facts += _reference("Reference", card)
    if is_chosen:
        facts.append(("CI test", "chosen for each data set, whose facts name it with the reason"))
    elif test:
        options = ", ".join(f"{key} {plain(value)}" for key, value in test.items() if key != "type")
        facts.append(("CI test", f"{test_card.name if test_card else test['type']}{': ' + options if options else ''}"))
    if test_card:
        facts += [
            ("p-values", f"{test_card.p_values}; {test_card.guarantee}"),
            *_reference("Test reference", test_card),
        ]
    name = card.name if card else plain(spec.get("method", selector))
    is_ppi = test.get("type") == "ppi"
    return Method(selector, name, settings, facts, calibration({**spec, **test}) if is_ppi else "")


def _reference(term: str, card: Card) -> list[tuple[str, str | Markup]]:
    return [(term, linked(card.reference))] if card.reference not in ("", "none") else []


def _test_options(ci_test: Any) -> dict[str, Any]:
    """Return a CI test's spec as one flat mapping with its type."""
    if not ci_test:
        return {}
    if isinstance(ci_test, str):
        return {"type": ci_test}
    flat = {key: value for key, value in ci_test.items() if key != "options"}
    return {"type": flat.get("type", flat.get("id", ""))} | flat | dict(ci_test.get("options") or {})


def calibration(options: Mapping[str, Any]) -> str:
    """Return which significance a PPI test used, and its measured false-positive rate, in words."""
    significance = options.get("significance", "wilcoxon")
    if significance == "corrected-t":
        return f"Significance: corrected-t. Measured false-positive rate {_HOW}: 1 to 5 % for 5 to 100 repeats."
    n_repeats = options.get("n_repeats")
    rates = ", ".join(f"{rate} with B = {b}" for b, rate in _WILCOXON.items())
    own = f" This selector used B = {n_repeats}." if n_repeats is not None else ""
    return (
        f"Significance: {significance}. Measured false-positive rate {_HOW}: {rates}.{own} All repeats split the same "
        "sample, so they are dependent, and more repeats make the test more liberal; "
        "the corrected-t variant stays at 1 to 5 % for 5 to 100 repeats."
    )
