"""The claude_code family: schemas that match Claude Code's."""
