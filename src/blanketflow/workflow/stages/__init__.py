"""The stages of a fold in the workflow: what reads its rows, tests, grows and shrinks, and writes what was found."""
