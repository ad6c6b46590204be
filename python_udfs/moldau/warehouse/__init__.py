"""The warehouse: a folder of Delta tables, made from the YAML that documents them."""
