"""The colours of charts and of what a notebook shows."""

from __future__ import annotations

#: Okabe and Ito's palette, which people with any colour vision can tell apart.
BLUE, VERMILLION, GREEN, ORANGE, PURPLE, SKY = "#0072B2", "#D55E00", "#009E73", "#E69F00", "#CC79A7", "#56B4E9"
#: Text and lines use the text colour of the page, so that they are legible on light and dark pages.
INK = "currentColor"
#: The label and the colour of each role of a feature, as long as no chart needs more room for the label.
ROLES = {
    "parent_or_child": ("parent or child", BLUE),
    "parent": ("parent", BLUE),
    "child": ("child", SKY),
    "member": ("member, role not known", GREEN),
    "included": ("asked for, not found", PURPLE),
    "spouse": ("spouse", ORANGE),
}
