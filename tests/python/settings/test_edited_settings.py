"""A cluster is written into moldau.yml, and nothing else of it changes."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from moldau.errors import MoldauError
from moldau.settings import load_settings
from moldau.settings.edited import write_cluster

KEYS = {"bootstrap.servers": "b1:9092,b2:9092", "properties": "east.properties"}
LINES = '    bootstrap.servers: "b1:9092,b2:9092"\n    properties: east.properties\n'
FLOW = '{bootstrap.servers: "b1:9092,b2:9092", properties: east.properties}'
CASES = {
    "": f"clusters:\n  east:\n{LINES}",
    "# only a remark": f"# only a remark\nclusters:\n  east:\n{LINES}",
    "warehouse: w": f"warehouse: w\nclusters:\n  east:\n{LINES}",
    # a new one stands behind the others, before what is said of the next section
    "clusters:\n  # ours\n  west:\n    authority: broker  # theirs\n\n# flows\nflows: {}\n":
        "clusters:\n  # ours\n  west:\n    authority: broker  # theirs\n"
        f"  east:\n{LINES}\n# flows\nflows: {{}}\n",
    "clusters:\n    west: {authority: broker}\nengine: auto":
        "clusters:\n    west: {authority: broker}\n    east:\n"
        f"  {LINES.replace(chr(10) + '    ', chr(10) + '      ')}engine: auto",
    "clusters:\n  west:\nengine: auto\n": f"clusters:\n  west:\n  east:\n{LINES}engine: auto\n",
    "clusters: {west: {}, }\n": f"clusters: {{west: {{}}, east: {FLOW} }}\n",
    '{"clusters": {"west": {}}}': f'{{"clusters": {{"west": {{}}, east: {FLOW}}}}}',
    '{"engine": "auto"}': f'{{"engine": "auto", clusters: {{east: {FLOW}}}}}',
    "clusters:  # none yet\n": f"clusters: {{east: {FLOW}}}  # none yet\n",
    "clusters: ~\n": f"clusters: {{east: {FLOW}}}\n",
    # one that is there keeps what else it says
    "clusters:\n  east: {authority: broker}\n":
        f"clusters:\n  east: {{authority: broker, {FLOW[1:]}\n",
    "clusters:\n  east:\n    authority: broker\n  west: {}\n":
        f"clusters:\n  east:\n    authority: broker\n{LINES}  west: {{}}\n",
    "clusters:\n  east:\n    bootstrap.servers: old:1 # before\n    authority: broker\n":
        'clusters:\n  east:\n    bootstrap.servers: "b1:9092,b2:9092" # before\n'
        "    authority: broker\n    properties: east.properties\n",
    "clusters:\n  east:\n": f"clusters:\n  east: {FLOW}\n",
    "warehouse: w\r\nclusters:\r\n  west: {}\r\n":
        f"warehouse: w\r\nclusters:\r\n  west: {{}}\r\n  east:\n{LINES}".replace("\r\n", "\n")
        .replace("\n", "\r\n"),
    "\ufeffwarehouse: w\n": f"\ufeffwarehouse: w\nclusters:\n  east:\n{LINES}",
}  # fmt: skip


@pytest.mark.parametrize("before", CASES)
def test_nothing_else_changes(tmp_path: Path, before: str) -> None:
    file = tmp_path / "moldau.yml"
    file.write_bytes(before.encode())
    write_cluster(file, "east", KEYS)
    assert file.read_bytes().decode() == CASES[before]
    told = load_settings(file, tmp_path).cluster("east")
    assert (told.bootstrap_servers, told.properties) == tuple(KEYS.values())
    assert list(tmp_path.iterdir()) == [file]


def test_a_file_that_is_not_there_is_made_and_a_link_stays_one(tmp_path: Path) -> None:
    write_cluster(tmp_path / "moldau.yml", "east", KEYS)
    assert (tmp_path / "moldau.yml").read_text() == CASES[""]
    real = tmp_path / "real.yml"
    real.write_text("clusters:\n")
    os.chmod(real, 0o600)
    (tmp_path / "link.yml").symlink_to(real)
    write_cluster(tmp_path / "link.yml", "west", {"bootstrap.servers": "b:1"})
    assert (tmp_path / "link.yml").is_symlink()
    assert real.read_text() == "clusters: {west: {bootstrap.servers: b:1}}\n"
    assert real.stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize("name", ["true", "0x10", "with space", "ü: {", "a#b", "1_000", "-"])
def test_a_name_that_yaml_would_take_for_something_else(tmp_path: Path, name: str) -> None:
    file = tmp_path / "moldau.yml"
    write_cluster(file, name, KEYS)
    assert load_settings(file, tmp_path).cluster(name).bootstrap_servers == "b1:9092,b2:9092"


@pytest.mark.parametrize(
    "odd",
    [
        "base: &b {west: {}}\nclusters: *b\n",
        "clusters:\n  east:\n    bootstrap.servers:\n      - old:1\n",
        "clusters:\n  east: &e\n    authority: broker\n  west: *e\n",
    ],
)
def test_what_cannot_be_edited_is_left_alone(tmp_path: Path, odd: str) -> None:
    file = tmp_path / "moldau.yml"
    file.write_text(odd)
    with pytest.raises(MoldauError, match="put this there by hand"):
        write_cluster(file, "east", KEYS)
    assert file.read_text() == odd
