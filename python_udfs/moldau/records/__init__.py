"""Decoder of the records in Kafka's internal topics. Import from the modules inside."""
