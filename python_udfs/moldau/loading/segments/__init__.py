"""Segments of a log (`*.log`) from a broker's disk or a backup, as rows of records."""
