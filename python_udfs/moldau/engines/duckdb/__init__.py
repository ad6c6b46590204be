"""DuckDB: the same SQL translated, Delta tables as views, and what a model writes."""
