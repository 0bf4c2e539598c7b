"""Where records live: versions, contents, tasks, the approval queue and session ledgers, behind one protocol."""
