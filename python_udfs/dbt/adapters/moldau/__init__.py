"""`type: moldau` of profiles.yml: dbt-spark in a session of moldau's own, and whole runs.

dbt's `on-run-start` and `on-run-end` call `open_run` and `close_run`, the materialization
`begins` and `ends`: see `moldau.runs.in_dbt`.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar

from dbt.adapters.base import AdapterPlugin, available
from dbt.adapters.contracts.connection import Connection
from dbt.adapters.spark import SparkAdapter, SparkConnectionManager, SparkCredentials
from dbt_common.exceptions import DbtRuntimeError

from dbt.include import moldau
from moldau.declared import domains
from moldau.engines.spark.connected import REMOTE
from moldau.errors import MoldauError
from moldau.settings import Settings, load_settings

Answer = TypeVar("Answer")
_ON_SPARK = ("run", "build", "test")  # of dbt's commands: they surely connect


@dataclass
class MoldauCredentials(SparkCredentials):
    """`config`: a moldau.yml; `warehouse`: the folder; `remote`: a server of Spark Connect. Without
    them as for `moldau`."""

    config: str | None = None
    warehouse: str | None = None
    remote: str | None = None

    @property
    def type(self) -> str:
        return "moldau"

    def _connection_keys(self) -> tuple[str, ...]:
        return ("method", "schema", "config", "warehouse", "remote")

    def settings(self) -> Settings:
        config, warehouse = (name and Path(name) for name in (self.config, self.warehouse))
        settings = load_settings(config, warehouse)
        if self.remote is None:
            return settings
        if not self.remote:
            raise MoldauError("SPARK_REMOTE names no server: sc://HOST:PORT is expected")
        return settings.model_copy(update={"spark": settings.spark | {REMOTE: self.remote}})


def _in_dbts_words(work: Callable[..., Answer]) -> Callable[..., Answer]:
    @wraps(work)
    def told(*arguments: Any) -> Answer:
        try:
            return work(*arguments)
        except MoldauError as error:
            raise DbtRuntimeError(str(error)) from None

    return told


class MoldauConnectionManager(SparkConnectionManager):
    TYPE = "moldau"

    @classmethod
    @_in_dbts_words
    def open(cls, connection: Connection) -> Connection:
        from moldau.runs.in_dbt import start_spark

        start_spark(connection.credentials.settings())
        # dbt-spark would set them anew before each statement, those, too, that a run has chosen
        own = dataclasses.replace(connection.credentials, server_side_parameters={})
        connection.credentials = own
        return super().open(connection)


class MoldauAdapter(SparkAdapter):
    ConnectionManager = MoldauConnectionManager
    _run: Any = None
    _looked_at: Sequence[str] | None = None  # None = whatever is selected

    def __init__(self, config: Any, mp_context: Any) -> None:
        super().__init__(config, mp_context)
        if getattr(config.args, "which", None) in _ON_SPARK:
            from moldau.runs.in_dbt import start_early

            with suppress(MoldauError):  # the first connection meets it again
                start_early(config.credentials.settings())

    def cleanup_connections(self) -> None:
        from moldau.runs.in_dbt import let_go

        super().cleanup_connections()
        let_go()

    @available
    def is_kind(self, name: str) -> bool:
        """Of run, which a selector of this name carries out as a whole."""
        return name in {kind.name for domain in domains() for kind in domain.kinds}

    @available
    @_in_dbts_words
    def looks_at(self, kind: str) -> list[str]:
        """dbt's ids of what a whole run of this kind makes and reads."""
        from moldau.runs.in_dbt import looked_at

        self._looked_at = looked_at(kind)
        return self._looked_at

    @available
    def is_unread(self, key: str) -> bool:
        """By the whole run that is open: it does not make this."""
        return self._looked_at is not None and key not in self._looked_at

    @available
    @_in_dbts_words
    def open_run(
        self, kind: str, at: str | int | None, clusters: Sequence[str], reads: Sequence[str]
    ) -> str:
        """Open a run of this kind, as `moldau <kind>` does; gives its id."""
        from moldau.runs.in_dbt import DbtRun

        self._run = DbtRun(self.config.credentials.settings())
        return self._run.open(kind, at, clusters, reads)

    @available
    @_in_dbts_words
    def begins(self, model: str) -> str:
        """This model of the run that is open is about to be written."""
        self._run.begins(model)
        return ""

    @available
    @_in_dbts_words
    def ends(self, model: str) -> str:
        """It is written."""
        self._run.ends(model)
        return ""

    @available
    @_in_dbts_words
    def close_run(self, has_succeeded: bool) -> str:
        """Write the run's row, unless a model has failed; gives what there is to say."""
        run, self._run, self._looked_at = self._run, None, None
        return run.close(has_succeeded) if run else "no run was opened"


Plugin = AdapterPlugin(
    adapter=MoldauAdapter,
    credentials=MoldauCredentials,
    include_path=moldau.PACKAGE_PATH,
    dependencies=["spark"],
)
