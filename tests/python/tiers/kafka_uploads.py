"""Which local segments the leader uploads, in what order, and the lag that they are."""

from __future__ import annotations

from dataclasses import dataclass, field

from kafka_reference import Config, Decision, Partition, RuleSet, copied_offset


@dataclass
class Uploads:
    """Decisions by base offset, and the sums, in offsets unless they say otherwise."""

    decisions: dict[int, Decision] = field(default_factory=dict)
    is_published: bool = True  # else there is no lag: tiering is off, or copying
    lag: int = 0
    lag_sum: int = 0
    lag_issued: int = 0
    in_flight: int = 0
    new_offsets: int = 0
    blocked: int = 0
    delayed: int = 0
    size: int = 0
    segments: int = 0

    def chosen(self) -> list[int]:
        return [base for base, one in self.decisions.items() if one.decision == "upload"]

    def columns(self) -> dict[str, int | None]:
        """The sums under their names in marts.tier_lag."""
        sums = {
            "upload_tier_lag": self.lag,
            "upload_tier_lag_sum": self.lag_sum,
            "upload_tier_lag_issued": self.lag_issued,
            "upload_lag_new_offsets": self.new_offsets,
            "upload_blocked_by_lso": self.blocked,
            "upload_delayed": self.delayed,
            "upload_lag_bytes": self.size,
            "upload_lag_segments": self.segments,
        }
        said = {name: value if self.is_published else None for name, value in sums.items()}
        return said | {"upload_in_flight": self.in_flight}


def is_delayed(config: Config, age_ms: int, size_behind: int) -> bool:
    """KIP-1241; `size_behind`: bytes of all local segments behind the candidate."""
    lag_ms, lag_bytes = config.lag_ms(), config.lag_bytes()
    if lag_ms == 0 or lag_bytes == 0:
        return False
    if lag_ms > 0 and (age_ms < 0 or age_ms >= lag_ms):
        return False
    return not (lag_bytes > 0 and size_behind >= lag_bytes)


def in_flight(partition: Partition) -> dict[int, int]:
    """Offsets by where they start; of copies that start at one offset only the longest counts."""
    copies = [one for one in partition.metadata.live() if partition.is_in_flight(one)]
    return {copy.start: copy.span for copy in sorted(copies, key=lambda copy: copy.span)}


def uploads(partition: Partition, now_ms: int, rules: RuleSet) -> Uploads:
    config, local = partition.config, partition.local
    copies = in_flight(partition)
    found = Uploads(in_flight=sum(copies.values()))
    refusal = "TIERING_OFF" if not config.is_tiered else "COPY_DISABLED"
    if not config.is_tiered or config.is_copy_disabled:
        found.decisions = {one.base: Decision("keep", refusal) for one in local}
        found.is_published = False
        return found
    copied, _ = copied_offset(partition)
    from_offset = max(copied + 1, partition.log_start)
    stable = partition.last_stable
    is_scanned = stable > 0 and copied < stable
    is_stopped = False
    candidates: list[int] = []  # positions
    for position, segment in enumerate(local):
        next_base = partition.next_base(position)
        span = next_base - segment.base
        is_active = position + 1 == len(local)
        age_ms = now_ms - segment.max_timestamp_ms
        size_behind = sum(one.size for one in local[position + 1 :])
        if is_active:
            reason = "ACTIVE"
        elif next_base <= from_offset:
            reason = "ALREADY_COPIED" if next_base <= copied + 1 else "BELOW_LOG_START"
        elif not is_scanned or next_base > stable:
            reason = "ABOVE_LAST_STABLE_OFFSET"
            found.blocked += span
        elif is_stopped or (rules.delays_upload and is_delayed(config, age_ms, size_behind)):
            reason = "DELAYED"
            is_stopped = True
            found.delayed += span
        else:
            reason = "ELIGIBLE"
            candidates.append(position)
        found.decisions[segment.base] = Decision("keep", reason)
    if candidates:
        _add_up_uploads(partition, found, candidates, from_offset)
    found.lag_issued = sum(
        partition.next_base(position) - local[position].base
        for position in candidates
        if local[position].base not in copies
    )
    return found


def _add_up_uploads(
    partition: Partition, found: Uploads, candidates: list[int], from_offset: int
) -> None:
    local = partition.local
    boundary = partition.next_base(candidates[-1])
    first = local[candidates[0]].base
    for position in candidates:
        base, next_base = local[position].base, partition.next_base(position)
        found.decisions[base] = Decision(
            "upload", "ELIGIBLE", boundary - base, boundary - next_base
        )
        found.lag_sum += next_base - base
        found.size += local[position].size
    found.lag = boundary - first
    found.new_offsets = boundary - max(first, from_offset)
    found.segments = len(candidates)
