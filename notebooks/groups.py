# Databricks notebook source
# MAGIC %md
# MAGIC # What expires this week?
# MAGIC
# MAGIC Kafka deletes the offsets of a group some time after it has become empty, and those of
# MAGIC partitions that it no longer reads. An application that comes back later starts anew at
# MAGIC `auto.offset.reset`.
# MAGIC Here: which offsets go when, as of the last `moldau sweep --dry-run`, which applications
# MAGIC still need them, and what keeps the others.

# COMMAND ----------

# MAGIC %md
# MAGIC The warehouse is that of `moldau demo`, or what MOLDAU_WAREHOUSE names. `moldau.sql` needs
# MAGIC no Spark.

# COMMAND ----------

import os
from datetime import UTC, datetime, timedelta

import matplotlib.pyplot as plt
import polars as pl

import moldau

WAREHOUSE = os.environ.get("MOLDAU_WAREHOUSE", "moldau-demo")
pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=140, fmt_str_lengths=120)

decided_at = moldau.sql("select max(decided_at) from marts.expiry_calendar", WAREHOUSE).item()
now = decided_at or datetime.now(UTC)
print(f"as of {now:%Y-%m-%d %H:%M}")

# COMMAND ----------

# MAGIC %md
# MAGIC ## When does what go?

# COMMAND ----------

days = moldau.sql(
    f"""
    select
        cluster_id,
        greatest(0, date_diff('day', timestamptz '{now}', expires_at)) as day,
        count(*) as offsets
    from marts.expiry_calendar
    where
        coalesce(blocked_by, 'time') = 'time'
        and expires_at < timestamptz '{now}' + interval 14 day
    group by all
    order by all
    """,
    WAREHOUSE,
)

figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
below = [0] * 15
for (cluster,), of_cluster in days.group_by("cluster_id", maintain_order=True):
    offsets = dict(of_cluster.select("day", "offsets").iter_rows())
    heights = [offsets.get(day, 0) for day in range(15)]
    axes.bar(range(15), heights, bottom=below, label=cluster)
    below = [low + height for low, height in zip(below, heights, strict=True)]
axes.axvline(7.5, color="grey", linestyle="--", label="a week")
axes.set_xticks(range(15), [f"{now + timedelta(days=day):%d %b}" for day in range(15)], rotation=45)
axes.set(title="Offsets that expire, by day", ylabel="offsets")
axes.legend()
figure.savefig("groups-expiry.png")

# COMMAND ----------

# MAGIC %md
# MAGIC ## Which applications still need them?
# MAGIC
# MAGIC Those whose first offset goes this week. `is_live`: the group has members, or has committed
# MAGIC within the last day; with `expiring_offsets`, which go within a day, those are the ones to
# MAGIC call today.

# COMMAND ----------

print(
    moldau.sql(
        f"""
        select cluster_id, group_id, group_state, is_live, expiring_offsets, first_expires_at
        from marts.group_expirations
        where date_diff('day', timestamptz '{now}', first_expires_at) <= 7
        order by is_live desc, first_expires_at
        """,
        WAREHOUSE,
        at=now,
    )
)

# COMMAND ----------

# MAGIC %md
# MAGIC ## And what keeps the others?

# COMMAND ----------

kept = moldau.sql(
    """
    select coalesce(blocked_by, 'nothing: the next sweep') as kept_by, count(*) as offsets
    from marts.expiry_calendar
    group by all
    order by offsets
    """,
    WAREHOUSE,
)

figure, axes = plt.subplots(figsize=(9, 3), layout="constrained")
axes.barh(kept["kept_by"].to_list(), kept["offsets"])
axes.set(title="What keeps an offset", xlabel="offsets")
figure.savefig("groups-kept.png")

# COMMAND ----------

# MAGIC %md
# MAGIC ## The same in Spark
# MAGIC
# MAGIC Where there is a session, as on Databricks, `connect` takes it: each table and mart is
# MAGIC registered when it is first named. Without one, `moldau.connect(WAREHOUSE)` starts Spark.

# COMMAND ----------

if "spark" in globals():
    spark = moldau.connect(WAREHOUSE, spark=spark)  # noqa: F821
    spark.table("marts.expiry_calendar").groupBy("decision", "blocked_by").count().show()
