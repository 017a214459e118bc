"""What was measured, one study a folder: `python -m studies.NAME` at the top of a clone. No part of the package."""
