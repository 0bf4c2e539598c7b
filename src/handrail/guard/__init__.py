"""May this happen? Paths, policy, sensitive files, freshness, and the view that leaves out what is hidden."""
