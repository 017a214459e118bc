"""Moves shared by several methods: how features are ranked, admitted and removed."""
