"""Java, jars, the Spark session and dbt: all that starts a JVM; and the SQL of dbt for DuckDB."""
