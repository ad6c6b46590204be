"""dbt asks for it by this name."""

from moldau import __version__ as version

__all__ = ["version"]
