"""Keeps connections on this machine for the time of a block."""

from __future__ import annotations

import ipaddress
import os
import socket
from typing import Any, Callable, Sequence

# Through a proxy a client would leave the machine by an address that does not.
_PROXIES = ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "http_proxy", "https_proxy", "all_proxy")


class Guard:
    """The changed functions of `socket`; `leave` puts the old ones back. Other hosts than this one and those of `allowed` are refused."""

    def __init__(self, allowed: Sequence[str] = ()) -> None:
        self.refused: list[str] = []
        """The hosts that were refused, in order."""
        self._allowed = frozenset(allowed)
        self._addresses: set[str] = set()
        self._proxies = {name: os.environ.pop(name) for name in _PROXIES if name in os.environ}
        resolve, connect, connect_ex = socket.getaddrinfo, socket.socket.connect, socket.socket.connect_ex

        def checked_resolve(host: Any, *args: Any, **more: Any) -> Any:
            self._check(host)
            found = resolve(host, *args, **more)
            if _name(host) in self._allowed:
                self._addresses.update(str(address[0]) for *_, address in found)
            return found

        def checked_connect(own: socket.socket, address: Any) -> None:
            self._check(_host(address))
            connect(own, address)

        def checked_connect_ex(own: socket.socket, address: Any) -> int:
            self._check(_host(address))
            return connect_ex(own, address)

        self._undo: list[Callable[[], None]] = [lambda: os.environ.update(self._proxies)]
        self._change(socket, "getaddrinfo", checked_resolve, resolve)
        self._change(socket.socket, "connect", checked_connect, connect)
        self._change(socket.socket, "connect_ex", checked_connect_ex, connect_ex)

    def _change(self, owner: Any, name: str, new: Any, old: Any) -> None:
        setattr(owner, name, new)
        self._undo.append(lambda: setattr(owner, name, old))

    def leave(self) -> None:
        """Puts back what was changed."""
        while self._undo:
            self._undo.pop()()

    def _check(self, host: Any) -> None:
        name = _name(host)
        if _is_local(name) or name in self._allowed or name in self._addresses:
            return
        self.refused.append(name)
        raise ConnectionRefusedError(f"ctxc: a connection to {name} was refused, since `ctxc.strict` lets nothing leave this machine")


def _host(address: Any) -> Any:
    """The host of an address; None of a socket in the file system."""
    return address[0] if isinstance(address, tuple) and address else None


def _name(host: Any) -> str:
    return host.decode(errors="replace") if isinstance(host, (bytes, bytearray)) else str(host or "")


def _is_local(name: str) -> bool:
    if not name or name == "localhost" or name.endswith(".localhost"):
        return True
    try:
        address = ipaddress.ip_address(name.partition("%")[0])
    except ValueError:
        return name == socket.gethostname()
    return address.is_loopback or address.is_unspecified
