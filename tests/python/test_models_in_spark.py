"""What dbt makes of the models in a real session: columns as told."""

from __future__ import annotations

from manifest_support import project

from moldau.plugins.udtf import register_call_plugin
from moldau.runs.run import Run, next_run_id, now_ms, open_run
from moldau.runs.session import Session


def test_models_select_the_columns_that_their_yaml_tells(session: Session) -> None:
    """dbt enforces no contract in a materialization of our own, and `by name` fills gaps."""
    open_run(session, Run(next_run_id(session, "compare"), "compare", ["viewed"], now_ms()))
    session.dbt("run", "--select", "config.materialized:view", "config.materialized:run_list")
    register_call_plugin(session.spark, {}, session.warehouse)
    folder = session.warehouse / "_moldau" / "dbt" / "target" / "compiled" / "moldau"
    session.dbt("compile")
    for model in project().models.values():
        if model.kind != "seed":
            frame = session.spark.sql((folder / model.path).read_text())
            told = {c.name: c.data_type for c in model.node.columns.values()}
            found = {f.name: f.dataType.simpleString() for f in frame.schema.fields}
            if model.kind == "decision":  # the YAML is the table's, and a merge deletes by this one
                assert found.pop("is_gone", "boolean") == "boolean"
            assert found == told, model.name
