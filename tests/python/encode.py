"""Records from plain dicts, by the table that reads them."""

from moldau.records.encode import encode_key, encode_message, encode_struct, encode_value, uvarint

__all__ = ["encode_key", "encode_message", "encode_struct", "encode_value", "uvarint"]
