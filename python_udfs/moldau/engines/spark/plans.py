"""Check in the plan of a Spark query, before it runs, that it only reads, and only tables.

Spark runs a command as soon as it is given one, so the text is parsed and analysed first: a plan
is a tree of queries over tables, without a command, a script or a foreign file anywhere in it.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from moldau.errors import MoldauError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# commands that only tell something, and what they may tell it of
_TELLING = {
    "DescribeColumn", "DescribeDeltaDetailCommand", "DescribeDeltaHistory", "DescribeFunction",
    "DescribeNamespace", "DescribeRelation", "DescribeRelationJsonCommand", "ShowCatalogsCommand",
    "ShowColumns", "ShowCreateTable", "ShowCurrentNamespaceCommand", "ShowFunctions",
    "ShowNamespaces", "ShowPartitions", "ShowTableProperties", "ShowTables", "ShowTablesExtended",
    "ShowViews",
}  # fmt: skip
_NAMES = {
    "CurrentNamespace$", "UnresolvedFunctionName", "UnresolvedNamespace", "UnresolvedTable",
    "UnresolvedTableOrView",
}  # fmt: skip
_ABOUT_A_QUERY = {"DescribeQueryCommand": "plan", "ExplainCommand": "logicalPlan"}
_NAMED = {"UnresolvedRelation", "UnresolvedTable", "UnresolvedTableOrView"}
_ALLOWED = "tables by their names, and no files"
# leaves that read nothing
_ROWS = {"CTERelationRef", "LocalRelation", "OneRowRelation", "Range"}
_ACTING = ("Command", "ParsedStatement", "ScriptTransformation")
_ACTING_PACKAGE = "org.apache.spark.sql.catalyst.plans.logical."
_CALLING = {"CallMethodViaReflection", "TryReflect"}  # any method of any Java class


def require_reading(session: SparkSession, query: str) -> None:
    """MoldauError unless `query` only reads tables of the catalog, or tells about them.

    A PySparkException if it is none at all. The session must have no functions and temporary
    views of its own.
    """
    parser = session._jsparkSession.sessionState().sqlParser()
    _Check(session).require(parser.parsePlan(query))


class _Check:
    def __init__(self, session: SparkSession) -> None:
        jvm: Any = session._jvm
        self._session = session
        self._state = session._jsparkSession.sessionState()
        modes = getattr(jvm.org.apache.spark.sql.execution, "CommandExecutionMode$")
        self._not_run = getattr(modes, "MODULE$").SKIP()
        self._is_a = jvm.py4j.reflection.TypeUtil.isInstanceOf

    def require(self, parsed: Any) -> None:
        name = _class(parsed)
        if name in _ABOUT_A_QUERY:
            self.require(getattr(parsed, _ABOUT_A_QUERY[name])())
        elif name not in _TELLING:
            self._require_query(parsed)
        else:
            self._require_names(parsed.children())

    def _require_query(self, parsed: Any) -> None:
        for node in _nodes(parsed):
            self._require_no_act(node)
            self._require_database(node)
        plan = self._state.executePlan(parsed, self._not_run).analyzed()
        for node in _nodes(plan):
            self._require_no_act(node)
            if _class(node) == "UnionLoop":
                raise MoldauError("Spark 4.0 plans no recursive query: `--engine duckdb` does")
            if not node.children().size() and not _reads_a_table(node):
                raise MoldauError(f"a query reads {_ALLOWED}")
        if not plan.deterministic():
            for node in _nodes(plan):
                _require_no_call(node.expressions())

    def _require_names(self, abouts: Any) -> None:
        for about in _items(abouts):
            if _class(about) not in _NAMES:
                raise MoldauError(f"what is told about are {_ALLOWED}")
            self._require_database(about)

    def _require_database(self, node: Any) -> None:
        """Where a database's name is expected may stand a format, and then a path."""
        if _class(node) in _NAMED:
            name = _items(node.multipartIdentifier())
            if len(name) > 1 and not self._session.catalog.databaseExists(name[-2]):
                raise MoldauError(f"there is no database {name[-2]!r}: a query reads {_ALLOWED}")

    def _require_no_act(self, node: Any) -> None:
        is_acting = any(self._is_a(_ACTING_PACKAGE + name, node) for name in _ACTING)
        if is_acting or _class(node) == "ExecuteImmediateQuery":
            raise MoldauError(f"a query is expected, and {_class(node)} does more than read")


def _require_no_call(expressions: Any) -> None:
    """What calls Java counts as not deterministic, and so does all that it stands in."""
    for expression in _items(expressions):
        if _class(expression) in _CALLING:
            raise MoldauError("a query is expected, and this one calls Java")
        if not expression.deterministic():
            _require_no_call(expression.children())


def _reads_a_table(leaf: Any) -> bool:
    """A table or view of the catalog, or rows that stand in the query itself."""
    match _class(leaf):
        case "LogicalRelation":
            return bool(leaf.catalogTable().isDefined())
        case "DataSourceV2Relation":
            return bool(leaf.identifier().isDefined())
        case name:
            return name in _ROWS


def _nodes(plan: Any) -> Iterator[Any]:
    """Every node of a plan, also of common table expressions and subqueries.

    Views of the catalog are leaves: a person cannot make one.
    """
    waiting = [plan]
    while waiting:
        node = waiting.pop()
        if _class(node) == "View":
            continue
        yield node
        for more in (node.children(), node.innerChildren(), node.subqueries()):
            waiting += _items(more)


def _items(sequence: Any) -> list[Any]:
    return [sequence.apply(index) for index in range(sequence.size())]


def _class(node: Any) -> str:
    return str(node.getClass().getSimpleName())
