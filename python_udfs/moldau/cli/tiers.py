"""`moldau tiers`: the lag of tiered storage, per partition."""

from __future__ import annotations

from moldau.cli.deciding import deciding_verb

tiers = deciding_verb(
    "tiers",
    "which local segments wait to be uploaded to tiered storage, which remote ones to be deleted",
    "applies nothing: brokers upload and delete",
    "upload_candidates and decisions.delete_candidates, and every partition in marts.tier_lag",
)
