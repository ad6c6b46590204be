"""How groups of an instant are rebuilt (`moldau.runs.as_of`)."""
