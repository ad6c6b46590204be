"""Paths of what lies beside the tables, in `<warehouse>/_moldau`."""

from pathlib import Path

_INSIDE = Path("_moldau")
LOCK = _INSIDE / "lock"
LOADS = _INSIDE / "loads"  # files of loads that did not end
RUNS = _INSIDE / "runs"  # journals of runs that did not end
ASIDE = _INSIDE / "aside"  # loads and runs that cannot be finished
REFUSED = _INSIDE / "refused"  # lines that loads refused, by run_id
RUN_VIEWS = _INSIDE / "run"  # Spark wants a folder for schemas of views, too
LISTS = RUN_VIEWS  # what each run works on, by run_id
PLAIN_LISTS = _INSIDE / "plain_run"  # of each plain `dbt run`
CALLS = _INSIDE / "calls"  # plugin calls that are under way
IDLE = _INSIDE / "idle"  # what the last run of each kind decided on
DECIDED = _INSIDE / "decided"  # what the last run knew of each table of decisions
SEEDED = _INSIDE / "seeds.sha256"  # the look-up tables that were loaded last
SCHEMA = _INSIDE / "schema.json"  # which tables the warehouse has, and of which version
LEFT = _INSIDE / "left.json"  # the last run, and the versions of the tables that it left
POLLS = _INSIDE / "polls"  # what live clusters held when they were last looked at
NEW = _INSIDE / "new"  # tables that are being made; what a kill leaves goes with the next session
ERRORS = _INSIDE / "errors.log"  # tracebacks of errors that are moldau's own
DBT_LOG = _INSIDE / "dbt" / "logs" / "dbt.log"
SPARK_LOG = _INSIDE / "spark.log"
PLUGIN_LOG = _INSIDE / "plugins.log"  # what plugins print

# what of these must be a folder, and what a file
FOLDERS = (
    ASIDE,
    CALLS,
    DECIDED,
    IDLE,
    LISTS,
    LOADS,
    NEW,
    PLAIN_LISTS,
    POLLS,
    REFUSED,
    RUNS,
    *DBT_LOG.parents[:2],
)
FILES = (DBT_LOG, ERRORS, LEFT, PLUGIN_LOG, SCHEMA, SEEDED, SPARK_LOG)
