"""Where bytes live: backends behind one protocol. They move bytes and run ripgrep, and decide nothing."""
