"""Settings: `moldau.yml`, checked against Kafka's own property names."""

from __future__ import annotations

from moldau.settings.cluster import ClusterSettings
from moldau.settings.loaded import Settings, load_settings
from moldau.settings.plugin import PluginSettings

__all__ = ["ClusterSettings", "PluginSettings", "Settings", "load_settings"]
