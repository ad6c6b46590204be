"""The session of one command on the warehouse, and the run that is open in it."""
