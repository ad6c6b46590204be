# Databricks notebook source
# MAGIC %md
# MAGIC # What does the tier backlog cost?
# MAGIC
# MAGIC What waits to be uploaded lies on the brokers' disks, also past local retention; what
# MAGIC retention has chosen to delete from the tier is paid for until it is gone. Kafka's gauges
# MAGIC give no time and no price.

# COMMAND ----------

# MAGIC %md
# MAGIC The warehouse is what MOLDAU_WAREHOUSE names, else that of `moldau demo`, into which `moldau
# MAGIC exec samples/tiers/verbs.txt --warehouse moldau-demo` brings three tiered topics. Prices are
# MAGIC yours to fill in.

# COMMAND ----------

import os

import matplotlib.pyplot as plt
import polars as pl

import moldau

WAREHOUSE = os.environ.get("MOLDAU_WAREHOUSE", "moldau-demo")
DISK, TIER = 0.08, 0.023  # per GiB and month
pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=140, fmt_str_lengths=120)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Which bytes, and whose?
# MAGIC
# MAGIC *twice*: on disk although the tier has it, until local retention deletes it. *waits*: to be
# MAGIC uploaded. *pinned*: of that what local retention would have deleted. *overdue*: in the tier
# MAGIC although retention has chosen it.

# COMMAND ----------

backlog = moldau.sql(
    """
    select
        concat(lag.topic_name, '-', lag.partition_index) as partition,
        coalesce(local.doubly_stored_bytes, 0) as twice,
        coalesce(lag.upload_lag_bytes, 0) as waits,
        coalesce(local.pinned_local_bytes, 0) as pinned,
        coalesce(lag.delete_lag_bytes, 0) as overdue
    from marts.tier_lag as lag
    left join marts.local_retention as local using (cluster_id, topic_id, partition_index)
    order by all desc
    """,
    WAREHOUSE,
)

MIB = 2**20
figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
places = range(len(backlog))
for number, kind in enumerate(("twice", "waits", "pinned", "overdue")):
    axes.barh([place + 0.2 * number for place in places], backlog[kind] / MIB, 0.2, label=kind)
axes.set_yticks([place + 0.3 for place in places], backlog["partition"].to_list())
axes.set(title="Bytes of the backlog", xlabel="MiB")
axes.legend()
figure.savefig("tiers-backlog.png")

# COMMAND ----------

# MAGIC %md
# MAGIC ## What is that a month, if nothing changes?

# COMMAND ----------

GIB = 2**30
print(
    backlog.select(
        "partition",
        (pl.col("twice", "waits", "pinned") / GIB * DISK),
        (pl.col("overdue") / GIB * TIER),
    )
)

# COMMAND ----------

# MAGIC %md
# MAGIC ## When will it be gone?
# MAGIC
# MAGIC At the speed of the last uploads and deletes; *never*: nothing moves.

# COMMAND ----------

print(
    moldau.sql(
        """
        select
            topic_name,
            partition_index,
            upload_tier_lag,
            upload_outlook,
            delete_tier_lag_sum,
            delete_outlook
        from marts.tier_drain
        order by all
        """,
        WAREHOUSE,
    )
)

# COMMAND ----------

# MAGIC %md
# MAGIC ## And what is wrong in the tier?

# COMMAND ----------

findings = moldau.sql(
    "select finding, count(*) as segments from marts.remote_segment_findings group by all "
    "order by all",
    WAREHOUSE,
)
print(findings)
