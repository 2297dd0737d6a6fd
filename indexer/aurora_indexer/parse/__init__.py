"""Parsing: a source file becomes its chunks, parts and references (AURORA §6.3.5)."""
