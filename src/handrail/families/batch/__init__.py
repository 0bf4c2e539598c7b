"""The batch family: one call with many queries, files and edits."""
