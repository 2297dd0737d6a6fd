"""File events: watchers of a workspace root, their backends, debounce and overflow."""
