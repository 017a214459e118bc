"""The configuration: its keys, reading, checks, and JSON schema. Text in, typed config out."""
