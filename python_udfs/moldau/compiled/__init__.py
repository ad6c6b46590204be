"""The project as dbt compiles it: models, what they read, and what they write."""
