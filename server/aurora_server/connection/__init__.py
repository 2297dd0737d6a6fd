"""Connection: one client's bytes, as the messages of one session (JSON-RPC 2.0, LSP 3.17 base protocol)."""
