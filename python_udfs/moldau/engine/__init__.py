"""The engines: Java, jars, the Spark session and dbt, and dbt's SQL translated for DuckDB."""
