"""File formats, most of them one a file, each read by a maintained library where there is one."""
