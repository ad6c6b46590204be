"""What dbt includes with the adapter: what no project may say for others."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
