"""The tool families: thin faces that turn words into operations and outcomes into words."""
