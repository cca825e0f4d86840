"""Which tools of servers may not be offered now, since they are not what was reviewed; and who is told (S3, S8)."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

from graph.definition_changes import DefinitionChanges
from graph.mcp.gateway import Gateway
from state.run import Scope

_AT_ONCE = 8


class Offering:
    """The port Connectors on a gateway."""

    def __init__(self, gateway: Gateway, changes: DefinitionChanges) -> None:
        self._gateway, self._changes = gateway, changes

    def withheld(self, scope: Scope, tools: Sequence[str]) -> tuple[str, ...]:
        """The tools among these whose definition is not the reviewed one, sorted.

        Each server of theirs is looked at first, where that is due: it may take as long as opening it. One that cannot
        be asked withholds nothing: its tools fail when they are called.
        """
        ours = {name: self._gateway.names[name] for name in tools if name in self._gateway.names}
        servers = sorted({server for server, _ in ours.values()})
        if len(servers) > 1:
            with ThreadPoolExecutor(min(len(servers), _AT_ONCE), thread_name_prefix="servers") as pool:
                list(pool.map(self._gateway.look, servers))
        elif servers:
            self._gateway.look(servers[0])
        changed = []
        for name, (server, tool) in sorted(ours.items()):
            about = f"mcp {server}/{tool}"
            if self._gateway.changed(server, tool) is None:
                self._changes.mended(about)
            else:
                self._changes.blocked(about, self._gateway.seen_digest(server, tool))
                changed.append(name)
        return tuple(changed)
