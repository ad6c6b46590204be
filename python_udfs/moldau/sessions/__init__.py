"""One command on the warehouse: its session, and the run that is open in it."""
