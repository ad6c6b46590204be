"""What dbt includes with the adapter: no macro, as those of moldau are the project's own."""

import os

PACKAGE_PATH = os.path.dirname(__file__)
