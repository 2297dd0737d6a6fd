"""Files of a workspace: which of them count (scan, ignore rules, skips) and how they are read safely."""
