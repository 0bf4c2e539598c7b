"""File tools for AI agents: find, read, edit, look back and undo, behind one set of guards."""
