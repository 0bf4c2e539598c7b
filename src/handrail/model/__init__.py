"""The words everything else is written in: frozen values, no input or output, no imports of our own beyond this room."""
