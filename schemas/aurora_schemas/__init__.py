"""JSON Schemas as data, and their one loader."""
