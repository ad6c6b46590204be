"""The Spark settings, read from the one place where they stand: profiles/profiles.yml."""

from __future__ import annotations

import os

import yaml
from jinja2 import Environment

from moldau.project import PROFILES


def spark_settings() -> dict[str, str]:
    """`server_side_parameters` of the profile, with env_var() filled in as dbt does."""
    environment = Environment()
    environment.globals["env_var"] = lambda name, default=None: os.environ.get(name, default)
    text = environment.from_string((PROFILES / "profiles.yml").read_text()).render()
    profile = yaml.safe_load(text)["moldau"]
    output = profile["outputs"][profile["target"]]
    return {key: str(value) for key, value in output["server_side_parameters"].items()}
