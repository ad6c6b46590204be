# Databricks notebook source
# MAGIC %md
# MAGIC # What would an eviction time miss?
# MAGIC
# MAGIC A producer forgets the metadata of a topic that it has not written to for
# MAGIC `metadata.max.idle.ms`. The next record for that topic waits until a broker has answered. A
# MAGIC longer time misses less and keeps more; how much depends on how the producer writes, and its
# MAGIC events tell.

# COMMAND ----------

# MAGIC %md
# MAGIC The warehouse is that of `moldau demo`, or what MOLDAU_WAREHOUSE names.

# COMMAND ----------

import os

import matplotlib.pyplot as plt
import polars as pl

import moldau

WAREHOUSE = os.environ.get("MOLDAU_WAREHOUSE", "moldau-demo")
pl.Config(tbl_rows=40, tbl_cols=-1, tbl_width_chars=140, fmt_str_lengths=120)

# COMMAND ----------

# MAGIC %md
# MAGIC ## Misses and cached topics, by eviction time
# MAGIC
# MAGIC Dots are the time that is in force.

# COMMAND ----------

curve = moldau.sql(
    """
    select producer_id, evict_ms / 1000 as evict_seconds, is_in_force, misses_per_hour,
        mean_cached_topics
    from marts.metadata_miss_curve
    order by all
    """,
    WAREHOUSE,
)

figure, (misses, cached) = plt.subplots(2, sharex=True, figsize=(9, 6), layout="constrained")
for (producer,), of_producer in curve.group_by("producer_id", maintain_order=True):
    for axes, column in ((misses, "misses_per_hour"), (cached, "mean_cached_topics")):
        (line,) = axes.step(
            of_producer["evict_seconds"], of_producer[column], where="post", label=producer
        )
        in_force = of_producer.filter("is_in_force")
        axes.plot(in_force["evict_seconds"], in_force[column], "o", color=line.get_color())
cached.set_xscale("log")
misses.set(title="What an eviction time misses, and keeps", ylabel="misses an hour")
cached.set(xlabel="metadata.max.idle.ms, in seconds", ylabel="topics cached")
if len(curve):
    misses.legend()
figure.savefig("producers-misses.png")

# COMMAND ----------

# MAGIC %md
# MAGIC ## What should it be?

# COMMAND ----------

print(
    moldau.sql(
        """
        select producer_id, evict_ms, recommended_evict_ms, advice, misses_per_hour,
            expected_misses_per_hour, expected_mean_cached_topics
        from marts.metadata_recommendations
        order by all
        """,
        WAREHOUSE,
    )
)
