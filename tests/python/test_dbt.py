"""What dbt makes of the project in a real session: its own tests, and columns as the YAML tells."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from manifest_support import project
from spark_support import dbt_tests_pass, make_all_views, spark_of

from moldau.engine.graph import models
from moldau.plugins.udtf import register_call_plugin
from moldau.sessions.session import Session

WITH_DATA_OF_THEIR_OWN = [f"path:models/*/{domain}" for domain in ("tiers", "mirrors")]


@pytest.fixture(scope="module")
def viewed(session: Session) -> Iterator[Session]:
    make_all_views(session)
    yield session
    spark_of(session).sql("drop schema marts cascade")  # they are of a run; others make their own


@pytest.mark.parametrize("kind", ["unit", "data"])
def test_all_tests_of_dbt_pass(viewed: Session, kind: str) -> None:
    """Each is reported by its name; those of data are asked where a domain's tests left much."""
    but = WITH_DATA_OF_THEIR_OWN if kind == "data" else ()
    dbt_tests_pass(viewed, f"test_type:{kind}", but=but)


def test_models_select_the_columns_that_their_yaml_tells(viewed: Session) -> None:
    """dbt enforces no contract in a materialization of our own, and `by name` fills gaps."""
    register_call_plugin(spark_of(viewed), {}, viewed.warehouse)
    for model in project().models.values():
        if model.kind != "seed":
            frame = spark_of(viewed).sql(models()[model.name].sql)
            told = {c.name: c.data_type for c in model.node.columns.values()}
            found = {f.name: f.dataType.simpleString() for f in frame.schema.fields}
            if model.kind == "decision":  # the YAML is the table's, and a merge deletes by this one
                assert found.pop("is_gone", "boolean") == "boolean"
            assert found == told, model.name
