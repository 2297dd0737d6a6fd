"""Workspace: its memory, indexer, deliverables and questions, behind one object (`workspace.Workspace`)."""
