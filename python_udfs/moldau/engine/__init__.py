"""Java, jars, the Spark session and dbt: everything that starts a JVM."""
