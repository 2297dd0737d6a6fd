"""Session: what one connected client has (folders, errors, converter) and shares with the others (`core`)."""
