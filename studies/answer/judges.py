"""A judge of features that no method of this package asks: a neural network, as a model of the workflow.

Named as ``studies.answer.judges:MLP``, as `competitors.py` names selectors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from blanketflow.core.cards import CLASSIFICATION
from blanketflow.plugins import Card, Model


@dataclass
class MLP(Model):
    """A network with one hidden layer of 100 units, on standardised columns; a target of numbers is standardised too.

    L-BFGS converges on tables of fewer than a hundred rows, where the hundreds of steps of Adam do not. The penalty
    weighs as one in all, as `C` of the SVM does; no setting was chosen by results.
    """

    card: ClassVar[Card] = Card(
        id="mlp",
        name="multilayer perceptron",
        family="model",
        summary="A neural network with one hidden layer.",
        reference="scikit-learn's MLPClassifier and MLPRegressor",
    )

    def assemble(self, task: str, seed: int, n_jobs: int) -> Any:
        """Return the network."""
        from sklearn.compose import TransformedTargetRegressor
        from sklearn.neural_network import MLPClassifier, MLPRegressor
        from sklearn.pipeline import make_pipeline
        from sklearn.preprocessing import StandardScaler

        options: dict[str, Any] = {"solver": "lbfgs", "alpha": 1.0, "max_iter": 200, "random_state": seed}
        if task == CLASSIFICATION:
            return make_pipeline(StandardScaler(), MLPClassifier(**options))
        return TransformedTargetRegressor(
            make_pipeline(StandardScaler(), MLPRegressor(**options)), transformer=StandardScaler()
        )
