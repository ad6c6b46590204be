"""What producers would have asked of their cluster: one log of events under any rule set."""
