"""The metrics of a warehouse as OpenMetrics text."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from prometheus_client import Metric
from prometheus_client.openmetrics.exposition import CONTENT_TYPE_LATEST
from prometheus_client.registry import Collector

import moldau
from moldau.metrics.families import READINGS, Reading
from moldau.metrics.jmx import jmx_name
from moldau.metrics.text import openmetrics
from moldau.reading.tables.names_of import require_warehouse
from moldau.reading.tables.query import Tables
from moldau.reading.tables.views import views_under

SERIES = 1_000  # of one metric
CONTENT_TYPE: str = CONTENT_TYPE_LATEST
_KAFKA = "marts.metrics"
_ASKED = Counter([_KAFKA, *(reading.mart for reading in READINGS)])
MARTS = tuple(_ASKED)
"""Those that are asked."""
OFTEN = tuple(name for name, times in _ASKED.items() if times > 1)


def exposition(
    warehouse: Path,
    at_ms: int | None = None,
    series: int = SERIES,
    opened: Tables | None = None,
) -> tuple[bytes, str]:
    """OpenMetrics text of a warehouse as it is now, and its content type.

    `at_ms`: the clock of the marts; None = now. `series`: the most that one metric has; of more
    the worst are kept, and `moldau_series_left_out` counts the rest. A mart whose tables an
    earlier moldau did not make has no metrics. MoldauError if there is no warehouse or a table
    is damaged. `opened`: MARTS at this clock, if they are open already.
    """
    return openmetrics(Warehouse(warehouse, at_ms, series, opened).collect()), CONTENT_TYPE


class Warehouse(Collector):
    """Asks the marts once, whenever it is collected."""

    def __init__(
        self, warehouse: Path, at_ms: int | None, series: int, opened: Tables | None = None
    ) -> None:
        require_warehouse(warehouse)
        self._opened = opened
        self._warehouse = warehouse
        self._at_ms = at_ms
        self._series = series
        self._left_out: dict[str, int] = {}

    def collect(self) -> Iterator[Metric]:
        tables = self._opened or self._tables()
        yield from self._kafkas(tables)
        for reading in READINGS:
            if tables.has(reading.mart):
                yield from self._read(tables, reading)
        yield from self._own()

    def _tables(self) -> Tables:
        """What is read twice is computed once."""
        lists = [replace(v, is_list=True) for v in views_under(OFTEN) if v.name in OFTEN]
        return Tables(self._warehouse, MARTS, self._at_ms, lists, makes_lists=True)

    def _read(self, tables: Tables, reading: Reading) -> Iterator[Metric]:
        found = list(tables.answer(_sql(reading, self._series)).rows)
        names = list(reading.labels)
        for place, family in enumerate(reading.families, start=len(names)):
            metric = Metric(family.name, family.says, "gauge")
            for row in found:
                if row[place] is not None:
                    metric.add_sample(family.name, dict(zip(names, row, strict=False)), row[place])
            of_all = found[0][place + len(reading.families)] if found else 0
            self._left_out[family.name] = of_all - len(metric.samples)
            yield metric

    def _kafkas(self, tables: Tables) -> Iterator[Metric]:
        """What a broker would tell: its type is unknown, as the JMX exporter says of it."""
        metrics: dict[str, Metric] = {}
        for row in tables.rows(
            _KAFKA, "order by mbean, metric_name, value desc, cluster_id, tags::varchar", []
        ):
            name = jmx_name(row["mbean"], row["metric_name"])
            if name not in metrics:
                says = f"{row['mbean']} {row['metric_name']}"
                metrics[name] = Metric(name, says, "unknown")
                self._left_out[name] = 0
            if len(metrics[name].samples) < self._series:
                labels = {"cluster_name": row["cluster_id"], **row["tags"]}
                metrics[name].add_sample(name, labels, row["value"])
            else:
                self._left_out[name] += 1
        yield from metrics.values()

    def _own(self) -> Iterator[Metric]:
        limit = Metric("moldau_series_limit", "The most series that one metric has.", "gauge")
        limit.add_sample(limit.name, {}, self._series)
        left_out = Metric(
            "moldau_series_left_out", "Series of a metric that are not shown.", "gauge"
        )
        for name, count in self._left_out.items():
            left_out.add_sample(left_out.name, {"metric": name}, count)
        version = Metric("moldau_build_info", "The moldau that tells this.", "gauge")
        version.add_sample(version.name, {"version": moldau.__version__}, 1)
        yield from (limit, left_out, version)


def _sql(reading: Reading, series: int) -> str:
    """Labels, values, and of each value how many there are in all."""
    labels = [f"coalesce({column}::varchar, '')" for column in reading.labels.values()]
    values = [family.value for family in reading.families]
    counts = [f"count({value}) over ()" for value in values]
    order = ", ".join(filter(None, [reading.first, *labels]))
    rows = f"({reading.rows})" if reading.rows else reading.mart
    columns = ", ".join([*labels, *values, *counts])
    return f"select {columns} from {rows} order by {order} limit {series:d}"
