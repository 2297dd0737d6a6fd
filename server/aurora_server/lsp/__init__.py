"""LSP features: what editors can ask for: one file per feature. Each converts params, calls the workspace, converts
the result.
"""
