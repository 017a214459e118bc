"""What `knockoffs` and `dcrt` share: laws of the features, knockoffs drawn from them, and importances."""
