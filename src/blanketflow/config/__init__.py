"""The configuration: its keys, how it is read and checked, and the JSON schema. Text in, typed config out."""
