"""dbt's data tests of the tiers domain, on what the tests before have left in the warehouse."""

from __future__ import annotations

from spark_support import compact, dbt_tests_pass, make_all_views, published

from moldau.project import ROOT
from moldau.sessions.session import Session

AT_MS = 1_800_000_000_000


def test_every_data_test_of_tiers_passes(session: Session) -> None:
    folders = ("marts", "intermediate", "state")
    tests = (f"test_type:data,path:models/{folder}/tiers" for folder in folders)
    compact(session)
    make_all_views(session, "models/staging")
    make_all_views(session, "models/intermediate/tiers")
    marts = sorted(file.stem for file in (ROOT / "models" / "marts" / "tiers").glob("*.sql"))
    with published(session, marts, AT_MS):
        dbt_tests_pass(session, *tests)
