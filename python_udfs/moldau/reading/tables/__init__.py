"""Tables and marts as they are read: in DuckDB without a JVM, or in Spark."""
