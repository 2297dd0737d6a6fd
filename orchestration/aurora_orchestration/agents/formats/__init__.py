"""Formats in which tools keep their agents: one file per format, each turning text into agents and notices."""
