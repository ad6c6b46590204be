"""Spark: its session and catalog, jars and Java, and models made by dbt in it."""
