"""The rules of the layers, proved on dbt's manifest: no Spark, no warehouse.

staging -> helpers -> decisions -> state, ordered in each domain by two barriers:
fold -> int_<domain>__folded -> decisions -> int_<domain>__decided -> apply.
Marts are views on all of them.
"""

from __future__ import annotations

import csv
import importlib
import re
from statistics import median

import pytest
from manifest_support import JINJA, Model, Project, project

from moldau.compiled.dbt import _pickled, _unpickled
from moldau.compiled.graph import models_tagged
from moldau.declared import domains, kinds, topics
from moldau.project import ROOT, SEEDS
from moldau.runs.apply import clears

# what a model of each kind may select from
READS: dict[str, set[str]] = {
    "staging": set(),  # sources only, and nothing else reads those
    # a helper may gather what was decided, for those who come after
    "helper": {"staging", "helper", "seed", "decision"},
    "decision": {"staging", "helper", "seed"},
    "barrier": {"staging", "barrier"},
    "fold": {"staging", "helper"},
    "call": {"staging", "helper"},
    "apply": {"staging", "decision", "helper"},
    # of the helpers only protected ones: dbt refuses a private one outside its group
    "mart": {"staging", "decision", "helper", "seed", "mart"},
}
# what it may name in `-- depends_on:`, for the order alone
WAITS_FOR: dict[str, set[str]] = {
    "staging": set(),
    "helper": {"apply"},  # a list of what is left to do
    "decision": {"barrier", "decision"},
    "barrier": {"fold", "decision", "apply"},
    "fold": {"fold"},
    "call": {"barrier", "call"},
    "apply": {"barrier", "apply"},
    "mart": set(),
}
# helpers that are lists, for several statements of a run read them and each is long in the
# planning, or Delta skips files by them
READ_AGAIN = {
    "int_groups__requests_answered",
    "int_tiers__last_runs",
    "int_tiers__partitions_led",
    "int_tiers__segment_epochs",
    "int_tiers__lineage_offsets",
    "int_tiers__segments_measured",
    "int_tiers__upload_candidates_reasoned",
    "int_tiers__delete_candidates_reasoned",
    "int_mirrors__last_runs",
    "int_mirrors__changes_read",
    "int_mirrors__targets_renewed",
    "int_mirrors__checkpoints_refuted",
    "int_mirrors__syncs_placed",
    "int_mirrors__syncs_read",
    "int_mirrors__offset_translations_reasoned",
    "int_mirrors__offset_translations_known",
    "int_producers__producers_measured",
    "int_producers__requests_sized",
    "int_producers__metadata_topics_reasoned",
}
DOMAINS = ["groups", "mirrors", "producers", "tiers"]
# sources that marts may see: what is there, never what a load brings
SOURCES_OF_MARTS = {
    "stg_run__table_status", "stg_run__polled_partitions", "stg_run__parameters",
    "stg_run__settings",
}  # fmt: skip
STATE_VERBS = (
    "emit_",
    "fold_",
    "replace_",
    "touch_",
    "record_",
    "mark_",
    "clear_",
    "tombstone_",
    "settle_",
)
# what Jinja can learn from elsewhere than the project's files
ASKS = re.compile(
    r"\b(this|target|flags|run_query|statement|load_result|execute|is_incremental|invocation_id|"
    r"run_started_at|adapter|graph|model|modules|builtins|context|selected_resources|thread_id|"
    r"fromjson|fromyaml|local_md5|api|dbt_version|var|env_var)\b"
)
# words that stand before a parenthesis and call nothing, and functions that only SQL has
NOT_PYTHON = {"if", "in", "and", "or", "not", "on", "as", "over", "where", "when", "then", "by"}
NOT_PYTHON |= {"except", "cast", "select", "from", "filter", "else", "exists", "map", "using"}


@pytest.fixture(scope="module")
def dbt_project() -> Project:
    return project()


@pytest.fixture(scope="module")
def models(dbt_project: Project) -> list[Model]:
    return [model for model in dbt_project.models.values() if model.kind != "seed"]


def test_dbt_parses_without_a_warning(dbt_project: Project) -> None:
    """Nor is there a word of ours beside those of dbt's, which stand in `meta`."""
    assert dbt_project.warnings == []


def test_the_manifest_is_kept_whole(dbt_project: Project) -> None:
    kept = _unpickled(_pickled(dbt_project.manifest))
    assert kept.to_dict() == dbt_project.manifest.to_dict()
    [key] = (node.unique_id for node in kept.nodes.values() if node.name == "fold_groups")
    assert kept.ref_lookup.find("fold_groups", None, None, kept).unique_id == key
    with pytest.raises(ValueError, match="no manifest"):
        _unpickled(b"of another time")


def test_layers_only_read_what_lies_below_them(dbt_project: Project, models: list[Model]) -> None:
    def kinds(names: set[str]) -> set[str]:
        return {dbt_project.models[name].kind for name in names}

    for model in models:
        refs = {ref.name for ref in model.node.refs}
        assert model.reads | model.waits_for == refs, f"{model.name}: a macro hides a ref"
        assert kinds(model.reads) <= READS[model.kind], model.name
        looked_at = {model.node.config.meta.get("works_on")}
        assert kinds(model.waits_for - looked_at) <= WAITS_FOR[model.kind], model.name


def test_domains_do_not_read_each_others_helpers(dbt_project: Project) -> None:
    for model in dbt_project.of_kind("helper", "decision", "fold", "apply"):
        parents = [dbt_project.models[name] for name in model.reads]
        own = [p for p in parents if p.kind in ("helper", "decision")]
        assert {parent.domain for parent in own} <= {model.domain}, model.name


def test_sources_are_read_in_staging_alone(models: list[Model]) -> None:
    for model in models:
        found = [source for source, _ in model.sources]
        assert found == ([model.domain] if model.kind == "staging" else []), model.name


def test_marts_do_not_read_what_a_load_brings(dbt_project: Project) -> None:
    for mart in dbt_project.of_kind("mart"):
        staging = [n for n in mart.reads if dbt_project.models[n].kind == "staging"]
        seen = [n for n in staging if not n.startswith(("stg_state__", "stg_history__"))]
        assert set(seen) <= SOURCES_OF_MARTS, mart.name


def test_only_state_models_write_state_and_history(
    dbt_project: Project, models: list[Model]
) -> None:
    tables = {f"{s.schema}.{s.identifier}" for s in dbt_project.manifest.sources.values()}
    for model in models:
        if model.layer == "state":
            assert model.into in tables and model.into.split(".")[0] in ("state", "history")
        else:
            assert model.into is None, model.name
        is_written = model.kind in ("fold", "call", "apply", "decision")
        is_list = model.kind == "helper" and (
            model.name.endswith(("_due", "_configured")) or model.name in READ_AGAIN
        )
        materialized = "merge_into" if is_written else "run_list" if is_list else "view"
        assert model.node.config.materialized == materialized, model.name
        assert not model.node.config.pre_hook and not model.node.config.post_hook, model.name


def test_barriers_order_the_graph(dbt_project: Project) -> None:
    before = {name: model.ancestors for name, model in dbt_project.models.items()}
    for fold in dbt_project.of_kind("fold"):
        if fold.name == "fold_log_positions":
            continue  # nothing is decided on how far a log is read
        for domain in DOMAINS if fold.domain == "run" else [fold.domain]:
            assert fold.name in before[f"int_{domain}__folded"]
    for decision in dbt_project.of_kind("decision"):
        assert f"int_{decision.domain}__folded" in decision.ancestors, decision.name
        assert decision.name in before[f"int_{decision.domain}__decided"]
    for call in dbt_project.of_kind("call"):
        assert f"int_{call.domain}__folded" in call.waits_for, call.name
        assert call.name not in before[f"int_{call.domain}__decided"], call.name
    for apply in dbt_project.of_kind("apply"):
        if apply.domain != "run":
            assert f"int_{apply.domain}__decided" in apply.waits_for, apply.name


def test_names_match_folders(models: list[Model]) -> None:
    for model in models:
        folder, name = model.path.parts[1:-1], model.name
        assert model.path.name == f"{name}.sql"
        if model.layer == "staging":
            assert name.startswith(f"stg_{model.domain}__") and len(folder) == 2, name
        elif model.layer == "intermediate":
            assert name.startswith(f"int_{model.domain}__") and len(folder) == 2, name
        elif model.layer == "state":
            assert name.startswith(STATE_VERBS) and folder[2:] in (
                ("fold",),
                ("call",),
                ("apply",),
            ), name
        else:
            assert model.layer == "marts" and "__" not in name and len(folder) == 2, name


def test_every_model_and_column_is_described(dbt_project: Project, models: list[Model]) -> None:
    for model in models:
        assert model.node.patch_path == f"moldau://{model.path.with_suffix('.yml')}", model.name
        assert model.node.description.startswith("One row"), f"{model.name} does not say its grain"
        assert model.key, f"{model.name} does not say its key"
        assert set(model.key) <= set(model.node.columns), model.name
        for column in model.node.columns.values():
            assert column.description and column.data_type, f"{model.name}.{column.name}"
    described = [*dbt_project.manifest.sources.values(), *dbt_project.of_kind("seed")]
    assert all(getattr(table, "node", table).description for table in described)
    ours = [m for m in dbt_project.manifest.macros.values() if m.package_name == "moldau"]
    assert [macro.name for macro in ours if not macro.description] == []
    assert [a.name for macro in ours for a in macro.arguments if not a.type] == []
    assert [s for s in dbt_project.manifest.selectors.values() if not s.get("description")] == []


def test_every_key_is_tested(dbt_project: Project, models: list[Model]) -> None:
    """A model that merges into a table of state has no relation of its own name.

    The key of its target is tested on the staging view that reads the target; a view that shows a
    part of it, as the settings in force, may have a shorter key.
    """
    sources = {f"{s.schema}.{s.identifier}": s for s in dbt_project.manifest.sources.values()}
    for model in models:
        if not model.into:
            assert dbt_project.tested_keys[model.name] == model.key, model.name
            continue
        key = sources[model.into].config.meta["primary_key"]
        view = f"stg_{model.into.replace('.', '__')}"
        assert model.key == key and model.name not in dbt_project.tested_keys, model.name
        assert set(dbt_project.tested_keys[view]) <= set(key), view
        if model.node.config.meta.get("write", "merge") == "merge":
            assert model.node.config["unique_key"] == key, model.name


def test_decisions_call_no_python(dbt_project: Project) -> None:
    """Each function that a decision, a helper or their macros call is one of Spark's own."""
    functions = importlib.import_module("pyspark.sql.functions")
    known = {name for name in dir(functions) if name.islower()} | NOT_PYTHON
    for model in dbt_project.of_kind("decision", "helper"):
        for code in [model.code, *dbt_project.macros_of(model.node).values()]:
            sql = re.sub(
                r"{{.*?}}|{%.*?%}|{#.*?#}|'[^']*'|--[^\n]*|/\*.*?\*/", " ", code, flags=re.DOTALL
            )
            called = set(re.findall(r"\b([a-z_]\w*)\s*\(", sql)) - set(
                re.findall(r"(\w+) as \(", sql)
            )
            assert called <= known, f"{model.name} calls {called - known}"


def test_compiled_text_does_not_depend_on_a_rule_set(
    dbt_project: Project, models: list[Model]
) -> None:
    """Rule sets are rows that SQL joins: no name of one, no switch and no variable in Jinja.

    Nor anything else that is not known when dbt parses: neither a model nor a macro that it calls
    asks the warehouse, the run or the machine, so that there is one compiled text for all of them.
    """
    with (SEEDS / "rule_sets.csv").open() as file:
        rule_sets = list(csv.DictReader(file))
    names = {row["ruleset"] for row in rule_sets}
    switches = set(rule_sets[0]) - {"domain", "ruleset", "is_default", "source"}
    macros = [m for m in dbt_project.manifest.macros.values() if m.package_name == "moldau"]
    texts = {m.name: m.macro_sql for m in macros} | {m.name: m.node.raw_code for m in models}
    for name, text in texts.items():
        assert not [word for word in names if re.search(rf"\b{word}\b", text)], name
        if name != "open_dbt_run":  # clock and scope of a whole run: no model's text has them
            assert not re.search(r"\b(var|env_var)\(", text), name
    for model in models:
        called = dbt_project.macros_of(model.node).values()
        inside = [found for macro in called for found in JINJA.findall(macro)]
        jinja = " ".join([*model.jinja, *inside])
        assert not [word for word in switches if word in jinja], model.name
        assert "{%" not in " ".join(model.jinja), model.name
        for text in [*model.jinja, *inside]:
            assert not ASKS.search(text), f"{model.name}: {text}"


def test_no_window_shrinks_row_by_row(models: list[Model]) -> None:
    """Spark computes a frame anew for every row when its start moves and its end does not."""
    macros = {path.stem: path.read_text() for path in (ROOT / "macros").glob("*.sql")}
    for name, text in (macros | {m.name: m.node.raw_code for m in models}).items():
        whole = re.sub(r"unbounded preceding\s+and unbounded following", "", text)
        assert "unbounded following" not in whole, name


def test_models_are_short(models: list[Model]) -> None:
    lines = {model.name: len(model.node.raw_code.splitlines()) for model in models}
    assert {name: count for name, count in lines.items() if count > 250} == {}
    assert median(lines.values()) <= 60


def test_stages_are_told_by_tags(dbt_project: Project, models: list[Model]) -> None:
    """What a verb runs is read from them, so each write is in a stage, of a kind that there is."""
    files = [*topics(), *(kind for one in domains() for kind in one.files)]
    known = {f"fold_{kind}" for kind in files}
    known |= {f"{stage}_{kind}" for stage in ("call", "decide", "apply") for kind in kinds()}
    used: dict[str, set[str]] = {}
    for model in models:
        tags = set(model.node.config.tags)
        assert tags <= known, model.name
        is_staged = model.kind in ("fold", "call", "apply", "decision") and model.domain != "run"
        assert bool(tags) == is_staged, model.name
        for tag in tags:
            assert tag.startswith("fold_") == (model.kind == "fold"), model.name
            assert tag.startswith("call_") == (model.kind == "call"), model.name
            assert tag.startswith("decide_") or model.kind != "decision", model.name
            used.setdefault(tag, set()).add(model.name)
    assert not any("fold_" in name for name in dbt_project.manifest.selectors), "nothing is loaded"
    for tag, names in used.items():
        if tag.startswith("fold_"):
            continue
        expected = names if tag.startswith(("call_", "apply_")) else names | {"record_settings"}
        assert dbt_project.selected(tag) == expected
    assert set(used) >= {f"decide_{kind}" for kind in kinds()}


def test_whatever_is_applied_changes_state_once_plugins_have_answered() -> None:
    """There a test may let the run die: before the first of these models, and after the last."""
    for kind in kinds():
        models = models_tagged(f"apply_{kind}")
        assert not models or all(clears(models)), kind


def test_the_command_line_exposes_every_mart(dbt_project: Project, models: list[Model]) -> None:
    [exposure] = dbt_project.manifest.exposures.values()
    marts = {f"model.moldau.{m.name}" for m in models if m.node.schema == "marts"}
    assert set(exposure.depends_on.nodes) == marts


def test_property_files_stand_beside_their_models() -> None:
    for path in (ROOT / "models").rglob("*.yml"):
        is_for_a_folder = path.name.startswith("_") or path.parent.name == "sources"
        model = path.name.removesuffix(".yml").removesuffix("__unit_tests")
        assert is_for_a_folder or path.with_name(f"{model}.sql").is_file(), path


def test_patterns_are_matched_by_the_macro_that_does_it_once_for_each_name(
    models: list[Model],
) -> None:
    """A hundred thousand commits of a hundred groups cost DuckDB two seconds otherwise."""
    found = {model.name for model in models if re.search(r"\brlike\b", model.node.raw_code)}
    assert found == set()


def test_what_chooses_between_rows_or_values_has_a_unit_test(
    dbt_project: Project, models: list[Model]
) -> None:
    tested = {test.model for test in dbt_project.manifest.unit_tests.values()}
    for model in models:
        chooses = re.search(r"\b(case|over)\b", model.node.raw_code)
        is_a_rule = model.node.original_file_path.startswith("models/intermediate")
        assert not (is_a_rule and chooses) or model.name in tested, model.name
