"""How a cluster is reached: by what the command says, else by what moldau.yml says of it."""

from __future__ import annotations

from pathlib import Path

from moldau.dumping.client_settings import ClientSettings, client_settings
from moldau.dumping.properties import read_properties
from moldau.errors import MoldauError
from moldau.settings import Settings


def reach(
    settings: Settings,
    cluster: str,
    servers: str | None = None,
    properties: Path | None = None,
) -> ClientSettings:
    """Client settings of a cluster, by its name in moldau.yml.

    `servers` and `properties` are those of the command line; each that is not given is that of
    moldau.yml. Of the servers hold, in this order: the option, `bootstrap.servers` of the file of
    the option, that of moldau.yml, that of its file. MoldauError where nobody names any, or the
    file cannot be taken over.
    """
    of_file = properties or settings.properties_of(cluster)
    servers = (
        servers
        or _servers_in(properties)
        or settings.cluster(cluster).bootstrap_servers
        or _servers_in(of_file)
    )
    if not servers:
        raise MoldauError(
            f"nobody says where cluster {cluster!r} is: --bootstrap-servers HOST:PORT, or "
            f"`bootstrap.servers` under `clusters: {cluster}:` of moldau.yml "
            f"(`moldau cluster add` writes it)"
        )
    return client_settings(servers, of_file)


def _servers_in(file: Path | None) -> str | None:
    return read_properties(file).get("bootstrap.servers") if file else None
