"""`moldau reset-plan`: offsets as Kafka's own tool reads them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result
from rows_support import Write

from moldau.cli.reset_plan import reset_plan
from moldau.errors import MoldauError

WRITE: dict[str, Any] = {
    "flow": "east-to-west", "group_id": "billing", "target_topic_name": "east.orders",
    "decision": "write", "reason_code": "TARGET_ABSENT", "to_offset": 405,
}  # fmt: skip


@pytest.fixture
def decided(write: Write, write_empty: Write, warehouse: Path) -> Path:
    write_empty("marts.failover_partitions")
    write(
        "decisions.target_offset_writes",
        WRITE,
        WRITE | {"partition_index": 1, "to_offset": 7, "reason_code": "TARGET_BEHIND"},
        WRITE | {"partition_index": 2, "decision": "skip", "reason_code": "TARGET_AHEAD"},
        WRITE | {"group_id": 'a,"quoted" one'},
        WRITE | {"group_id": "idle", "decision": "skip", "reason_code": "TARGET_EQUAL"},
        WRITE | {"flow": "to-north", "group_id": "other"},
        WRITE | {"flow": "to-south", "decision": "skip", "reason_code": "WOULD_EXCEED_TARGET_END"},
        WRITE | {"flow": "to-south", "group_id": "well"},
    )
    write(
        "state.groups",
        {"cluster_id": "east", "group_id": "idle", "group_type": "consumer"}
        | {"group_state": "EMPTY", "is_readable": True},
    )
    return warehouse


def ask(warehouse: Path, *words: str) -> Result:
    return CliRunner().invoke(reset_plan, [*words, "--warehouse", str(warehouse)])


def test_what_would_be_written_is_a_line_each(decided: Path) -> None:
    plan = ask(decided, "east-to-west")
    assert plan.stdout.splitlines() == [
        '"a,""quoted"" one",east.orders,0,405',
        "billing,east.orders,0,405",
        "billing,east.orders,1,7",
    ]
    assert plan.stderr == "offsets: 3, groups: 2\n"


def test_one_group_has_lines_without_its_name(decided: Path) -> None:
    assert ask(decided, "east-to-west", "--group", "billing").stdout == (
        "east.orders,0,405\neast.orders,1,7\n"
    )
    idle = ask(decided, "east-to-west", "--group", "idle")
    assert (idle.exit_code, idle.stdout) == (0, "")


def test_what_is_refused_is_told_with_its_reason(decided: Path) -> None:
    plan = ask(decided, "to-south")
    assert (plan.exit_code, plan.stdout) == (0, "well,east.orders,0,405\n")
    assert plan.stderr.splitlines() == [
        "offsets: 1, groups: 1",
        "refused: billing on east.orders-0 at 405 (WOULD_EXCEED_TARGET_END): The checkpoint lies "
        "past the end of the target partition.",
    ]
    assert ask(decided, "to-south", "--group", "well").stderr == "offsets: 1, groups: 1\n"


def test_the_file_appears_when_it_is_complete(decided: Path, tmp_path: Path) -> None:
    file = tmp_path / "plan.csv"
    plan = ask(decided, "east-to-west", "--to", str(file))
    assert plan.stdout == f"offsets: 3, groups: 2, in {file}\n"
    assert file.read_text().count("\n") == 3
    assert list(tmp_path.glob(".plan*")) == []


def test_a_group_that_the_format_cannot_name_is_told(decided: Path, write: Write) -> None:
    write("decisions.target_offset_writes", WRITE | {"group_id": "two\nlines"})
    plan = ask(decided, "east-to-west")
    assert (plan.exit_code, plan.stdout.count("\n")) == (2, 3)
    assert r"left out: the id of group 'two\nlines' holds a line break" in plan.stderr
    alone = ask(decided, "east-to-west", "--group", "two\nlines")
    assert (alone.exit_code, alone.stdout) == (0, "east.orders,0,405\n")


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["nowhere"], "nothing is known of the flow 'nowhere': is it configured, and "),
        (["to-north", "--group", "billing"], "nothing is known of group 'billing' in the flow "),
        (
            ["to-north", "--group", "idle"],
            "nothing is known of group 'idle' in the flow 'to-north': in cluster 'east' it is "
            "a consumer group, EMPTY with 0 members",
        ),
        (["to-north", "--to", "/no/such/plan.csv"], "the folder /no/such does not exist"),
    ],
)
def test_what_is_wrong_is_one_line(decided: Path, words: list[str], told: str) -> None:
    answer = ask(decided, *words)
    assert isinstance(answer.exception, MoldauError)
    assert str(answer.exception).startswith(told) and "\n" not in str(answer.exception)
