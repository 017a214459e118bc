"""``clinic``: a made-up discrete network of patients with a cough, 14 nodes.

The blanket of ``pneumonia``: its parents infection and smoking, its children xray, cough and fever, its spouses
old_scar (of itself independent of pneumonia: it shows only given xray) and allergy (dependent through smoking).
Season, occupation, antibiotics and absence are relatives outside the blanket; blood_type and ward are irrelevant.
"""

from __future__ import annotations

from .discrete import DiscreteNetwork, node

CLINIC = DiscreteNetwork(
    "clinic",
    {
        "season": node(["summer", "autumn", "winter"], table=[0.40, 0.25, 0.35]),
        "blood_type": node(["0", "A", "AB", "B"], table=[0.42, 0.40, 0.05, 0.13]),
        "occupation": node(["office", "outdoors", "workshop", "none"], table=[0.35, 0.20, 0.25, 0.20]),
        "infection": node(
            ["no", "yes"],
            ["season"],
            table=[[0.80, 0.20], [0.60, 0.40], [0.30, 0.70]],  # summer, autumn, winter
        ),
        "smoking": node(
            ["never", "light", "heavy"],
            ["occupation"],
            table=[
                [0.75, 0.15, 0.10],  # office
                [0.50, 0.30, 0.20],  # outdoors
                [0.30, 0.30, 0.40],  # workshop
                [0.45, 0.20, 0.35],  # none
            ],
        ),
        "pneumonia": node(
            ["no", "yes"],
            ["infection", "smoking"],
            table=[
                [[0.95, 0.05], [0.85, 0.15], [0.65, 0.35]],  # no infection; never, light, heavy
                [[0.55, 0.45], [0.30, 0.70], [0.10, 0.90]],  # infection
            ],
        ),
        "old_scar": node(["no", "yes"], table=[0.65, 0.35]),
        "xray": node(
            ["clear", "shadow"],
            ["pneumonia", "old_scar"],
            table=[
                [[0.95, 0.05], [0.25, 0.75]],  # no pneumonia; no scar, scar
                [[0.20, 0.80], [0.02, 0.98]],  # pneumonia
            ],
        ),
        "allergy": node(
            ["no", "yes"],
            ["smoking"],
            table=[[0.80, 0.20], [0.65, 0.35], [0.40, 0.60]],  # never, light, heavy
        ),
        "cough": node(
            ["none", "dry", "productive"],
            ["pneumonia", "allergy"],
            table=[
                [[0.86, 0.08, 0.06], [0.12, 0.80, 0.08]],  # no pneumonia; no allergy, allergy
                [[0.08, 0.17, 0.75], [0.05, 0.20, 0.75]],  # pneumonia
            ],
        ),
        "fever": node(
            ["none", "mild", "high"],
            ["pneumonia"],
            table=[[0.80, 0.15, 0.05], [0.15, 0.35, 0.50]],
        ),
        "antibiotics": node(
            ["no", "yes"],
            ["fever"],
            table=[[0.92, 0.08], [0.60, 0.40], [0.12, 0.88]],  # none, mild, high
        ),
        "absence": node(
            ["days", "weeks", "none"],
            ["antibiotics"],
            table=[[0.25, 0.05, 0.70], [0.50, 0.40, 0.10]],
        ),
        "ward": node(["north", "south", "west"], table=[0.40, 0.35, 0.25]),
    },
)
