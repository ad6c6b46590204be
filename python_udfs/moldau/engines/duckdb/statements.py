"""Check that a text in DuckDB's SQL is one query, or one condition, that only reads."""

from __future__ import annotations

from moldau.engines.duckdb.delta_types import in_one_line
from moldau.errors import MoldauError


def require_query(sql: str) -> None:
    """MoldauError unless `sql` is one query, or `explain` of one: `explain analyze` runs it."""
    kind = _kind(sql)
    if kind == "EXPLAIN":
        kind = _kind_explained(sql)
    if kind != "SELECT":
        raise MoldauError("one query is expected: moldau never changes tables or files from here")


def require_condition(where: str) -> None:
    """A condition, not the end of the statement and another one."""
    try:
        kind = _kind(f"select 1 where (\n{where}\n)")
    except MoldauError as error:
        raise MoldauError(f"--where {where!r} is not a condition: {error}") from None
    if kind != "SELECT":
        raise MoldauError(f"--where {where!r} is not one condition")


def _kind(sql: str) -> str | None:
    """What sort of statement it is; None = not one. MoldauError with DuckDB's words."""
    import duckdb

    try:
        sql.encode()
        parsed = duckdb.extract_statements(sql)
    except UnicodeEncodeError as error:  # words on a command line may be any bytes
        raise MoldauError(f"letter {error.start + 1} of the SQL is not UTF-8") from None
    except duckdb.Error as error:
        raise MoldauError(in_one_line(error)) from None
    return parsed[0].type.name if len(parsed) == 1 else None


def _kind_explained(sql: str) -> str | None:
    """The sort of the statement behind `explain`, `analyze` and the options in parentheses."""
    import duckdb

    text = sql.encode()
    tokens = [start for start, kind in duckdb.tokenize(sql) if kind != duckdb.token_type.comment]
    words = [text[start:end] for start, end in zip(tokens, [*tokens[1:], None], strict=True)]
    first = 2 if words[1].lower().startswith(b"analyze") else 1
    if words[first].startswith(b"("):
        try:
            return _kind(text[tokens[first] :].decode())
        except MoldauError:  # these are options: no option has parentheses of its own
            first = 1 + next(n for n, word in enumerate(words) if word.startswith(b")"))
    return _kind(text[tokens[first] :].decode())
