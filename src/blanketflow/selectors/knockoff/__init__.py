"""What `knockoffs` and `dcrt` are made of: laws of the features, knockoffs drawn from them, and what passes."""
