"""What is quoted for SQL comes back as it was; a session that reads it otherwise is refused."""

from __future__ import annotations

import pytest
from spark_support import spark_of

from moldau.engines.spark.quoting import QUOTING, check_quoting
from moldau.engines.spark.spark_session import start
from moldau.errors import MoldauError
from moldau.literals import literal
from moldau.sessions.session import Session

pytestmark = pytest.mark.spark

ODD = [
    "", " ", "'", "''", '"', '""', "`", "\\", "\\\\", "ends with \\", "\\'", "'\\", "\0", "\x1a",
    "${x}", "${env:HOME}", "{{ x }}", "{% x %}", "line\nbreak\r\ttab", "\\n", "\\u0041", "\\101",
    "\\%", "\\_", "%", "_", "?", ":x", "/* x */", "-- x", ";", "'; drop table state.groups; --",
    "🦀 é", "\uffff", "\u2028", "x" * 40_000,
]  # fmt: skip
ODD += [f"{before}{chr(code)}" for code in range(256) for before in ("", "\\", "'")]


@pytest.mark.parametrize("engine", ["duckdb", "spark"])
def test_a_text_comes_back_as_it_was(session: Session, engine: str) -> None:
    listed = ", ".join(f"({number}, {literal(text)})" for number, text in enumerate(ODD))
    query = f"select text from values {listed} as odd (number, text) order by number"
    asked = session.engines.duckdb if engine == "duckdb" else session.engines.spark
    assert [text for (text,) in asked.sql(query)] == ODD


def test_so_it_does_in_lists_and_maps_and_through_a_view(session: Session) -> None:
    """Spark keeps the SQL of a view and reads it again."""
    named = {text: number for number, text in enumerate(ODD) if text}
    spark_of(session).sql(
        "create or replace view run.quoted as "
        f"select {literal(ODD)} as listed, {literal(named)} as named, {literal(ODD[0])} as first"
    )
    [(listed, found, first)] = session.engines.spark.sql("select * from run.quoted")
    spark_of(session).sql("drop view run.quoted")
    assert (listed, found, first) == (ODD, named, ODD[0])


@pytest.mark.parametrize("key", QUOTING)
def test_a_session_that_reads_quotes_otherwise_is_refused(session: Session, key: str) -> None:
    check_quoting(spark_of(session))
    spark_of(session).conf.set(key, "true")
    try:
        with pytest.raises(MoldauError, match=f"{key} is true .* allowed is false"):
            check_quoting(spark_of(session))
        start(session.warehouse)  # sets what the profile says, and looks at what it got
        check_quoting(spark_of(session))
    finally:
        spark_of(session).conf.set(key, "false")
