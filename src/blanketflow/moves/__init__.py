"""The moves that methods share: how features are ranked, admitted and removed. No method is named here."""
