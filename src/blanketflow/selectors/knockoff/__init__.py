"""Parts of `knockoffs` and `dcrt`: laws of the features, knockoffs drawn from them, and importances."""
