"""Who is asking: the Python API, the command line, the MCP server."""
