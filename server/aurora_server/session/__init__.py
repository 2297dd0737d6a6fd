"""A session: one connection, its conversation by the rules of JSON-RPC and LSP, its folders."""
