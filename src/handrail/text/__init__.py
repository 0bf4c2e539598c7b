"""Bytes and characters: encodings, lines, quotes, differences. Pure functions, no input or output."""
