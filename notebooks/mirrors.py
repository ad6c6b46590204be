# Databricks notebook source
# MAGIC %md
# MAGIC # Why is a fail-over not ready?
# MAGIC
# MAGIC A group that moves to the other cluster goes on where its offset lies there. MirrorMaker
# MAGIC knows that only near the records at which it wrote an offset sync; moldau keeps every sync,
# MAGIC and says for each partition between which offsets the true position lies, or what is
# MAGIC missing.

# COMMAND ----------

# MAGIC %md
# MAGIC The warehouse is that of `moldau demo`, or what MOLDAU_WAREHOUSE names; the answers are
# MAGIC those of the last `moldau translate`.

# COMMAND ----------

import os

import matplotlib.pyplot as plt
import polars as pl

import moldau

WAREHOUSE = os.environ.get("MOLDAU_WAREHOUSE", "moldau-demo")
pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=140, fmt_str_lengths=120)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Which groups, and what blocks them?
# MAGIC
# MAGIC A group is ready when each of its partitions is translated, and nobody consumes in its name
# MAGIC in the target.

# COMMAND ----------

partitions = moldau.sql(
    """
    from (
        select
            concat(group_id, ' (', flow, ')') as who,
            coalesce(blocked_by, 'translated') as answer,
            count(*) as partitions
        from marts.failover_partitions
        group by all
    )
    order by answer <> 'translated', answer, who desc
    """,
    WAREHOUSE,
)

figure, axes = plt.subplots(figsize=(9, 5), layout="constrained")
whos = sorted(set(partitions["who"]), reverse=True)
left = dict.fromkeys(whos, 0)
for (answer,), rows in partitions.group_by("answer", maintain_order=True):
    counts = dict(rows.select("who", "partitions").iter_rows())
    widths = [counts.get(who, 0) for who in whos]
    color = "tab:green" if answer == "translated" else None
    axes.barh(whos, widths, left=[left[who] for who in whos], label=answer, color=color)
    left = {who: left[who] + width for who, width in zip(whos, widths, strict=True)}
axes.set(title="Would the group resume in the target?", xlabel="partitions")
if whos:
    axes.legend()
figure.savefig("mirrors-readiness.png")

# COMMAND ----------

print(
    moldau.sql(
        """
        select flow, group_id, topic_name, partition_index, upstream_offset, reason_text
        from marts.failover_partitions
        where not is_translated
        order by all
        """,
        WAREHOUSE,
    )
)

# COMMAND ----------

# MAGIC %md
# MAGIC ## And those that are ready: how much do they read again?
# MAGIC
# MAGIC The group goes on at the lower bound, so that nothing is skipped; its true position is not
# MAGIC above the upper one.

# COMMAND ----------

bounds = moldau.sql(
    """
    select
        concat(group_id, ' ', topic_name, '-', partition_index) as who,
        max(reread_max) as reread_max
    from marts.failover_partitions
    where is_translated and reread_max is not null
    group by all
    order by reread_max
    """,
    WAREHOUSE,
)

figure, axes = plt.subplots(figsize=(9, 6), layout="constrained")
axes.barh(bounds["who"].to_list(), bounds["reread_max"])
axes.set(title="Records that are read again at most", xlabel="records")
figure.savefig("mirrors-reread.png")
