"""Editing: what an editor does with a manifest: pure functions from a `Manifest` and an offset to places, texts and
edits.
"""
