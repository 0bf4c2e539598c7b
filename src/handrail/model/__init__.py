"""The words everything else is written in: frozen values, no input or output, no imports from other rooms."""
