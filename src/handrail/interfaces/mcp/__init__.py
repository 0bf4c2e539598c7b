"""The MCP server: the same road for clients that speak the Model Context Protocol."""
