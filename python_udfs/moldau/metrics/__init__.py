"""What a warehouse tells Prometheus: names and labels, read from the marts."""
