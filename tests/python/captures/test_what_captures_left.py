"""dbt's data tests hold for what the tests of this folder left."""

import pytest
from data_tests import test_every_data_test_of_dbt_passes

pytestmark = pytest.mark.last
__all__ = ["test_every_data_test_of_dbt_passes"]
