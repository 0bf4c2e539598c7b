"""The command line: what a person types in a terminal, and how a terminal is asked for a yes."""
