"""How configuration is found, read, merged, explained, changed and watched; `aurora_server.configuration.settings` says what."""
