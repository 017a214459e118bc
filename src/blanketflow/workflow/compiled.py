"""Compiled kernels before the first jobs start: else each of those that start together would compile the same ones."""

from __future__ import annotations


def compile_kernels() -> None:
    """Compile the kernels if that was never done in this installation; it is said on stderr."""
    from ..kernels import compile_all, is_compiled

    if not is_compiled():
        compile_all()
