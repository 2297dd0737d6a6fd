"""Configuration (settings, preferences): found, read, merged in layers, explained, changed and watched; `settings` says
what there is.
"""
