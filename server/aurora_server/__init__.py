"""Daemon: its LSP and MCP sessions, and the workspaces they share: where the rooms come together."""
