"""`aurora mcp`: AURORA as an MCP server on standard input and output, in front of the one daemon (AURORA §9.6)."""
