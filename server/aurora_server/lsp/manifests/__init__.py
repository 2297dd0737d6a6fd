"""Manifests and AURORA's other documents in an editor: one file per feature, each thin over `manifest.editing`.

The features' own modules import what they need when they are first asked: most sessions never see a manifest.
"""
