"""Configuration: found, read, merged, explained, changed and watched; `settings` says what there is."""
