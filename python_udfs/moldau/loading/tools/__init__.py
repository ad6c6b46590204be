"""What Kafka's own tools print of records, as rows: written anew as bytes, with the definitions of
`records`, and decoded like any others."""
