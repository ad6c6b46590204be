"""What dbt makes of the models in a real session: one text for every rule set, columns as told."""

from __future__ import annotations

import shutil

from manifest_support import project

from moldau.plugins.udtf import register_call_plugin
from moldau.runs.run import Run, next_run_id, now_ms, open_run
from moldau.runs.session import Session
from moldau.settings.rule_sets import rule_sets


def compiled_models(session: Session, ruleset: str | None) -> dict[str, str]:
    """Model -> the SQL that dbt compiles in a run that decides under this rule set."""
    run_id = next_run_id(session, "compare")
    rulesets = {"compiled": {"groups": ruleset, "tiers": ruleset}}
    open_run(session, Run(run_id, "compare", ["compiled"], now_ms(), rulesets=rulesets))
    folder = session.warehouse / "_moldau" / "dbt" / "target" / "compiled"
    shutil.rmtree(folder, ignore_errors=True)
    session.dbt("compile", "--select", "path:models/intermediate")
    return {path.stem: path.read_text() for path in folder.rglob("int_*.sql")}


def test_compiled_sql_is_the_same_text_for_every_rule_set(session: Session) -> None:
    compiled = [compiled_models(session, name) for name in rule_sets("groups")]
    assert {m.name for m in project().of_kind("decision")} <= set(compiled[0])
    assert all(texts == compiled[0] for texts in compiled)


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
