"""Replay a log of producers' events under any rule set, to see what they would have requested."""
