"""Whether a warehouse is in order, and what was left behind."""
