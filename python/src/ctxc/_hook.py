"""Leads clients of httpx and httpx2 to the proxy for the time of a block, and names the line that sends."""

from __future__ import annotations

import importlib
import os
import sys
import sysconfig
import threading
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Callable, Mapping, Optional
from urllib.parse import quote

HOSTS = {
    "api.openai.com": "openai",
    "api.anthropic.com": "anthropic",
    "generativelanguage.googleapis.com": "gemini",
}
# A variable of each vendor that leads to the proxy, and what stands behind the address in it.
_BASES = {"openai": ("OPENAI_BASE_URL", "/v1"), "anthropic": ("ANTHROPIC_BASE_URL", ""), "gemini": ("GOOGLE_GEMINI_BASE_URL", "")}
_CALLER = "x-ctxc-caller"
_LIBRARY = tuple(
    os.path.join(path, "") for path in {*(sysconfig.get_path(name) for name in ("stdlib", "platstdlib")), os.path.dirname(__file__)}
)
_PACKAGES = tuple(f"{os.sep}{name}{os.sep}" for name in ("site-packages", "dist-packages"))


class Hook:
    """The changed `send` of every client; `leave` puts the old ones back."""

    def __init__(self, variables: Mapping[str, str]) -> None:
        self.mocked = 0
        self._bases = {}
        for vendor, (name, behind) in _BASES.items():
            base = variables[name]
            self._bases[vendor] = base[: len(base) - len(behind)] if behind else base
        root = variables["ANTHROPIC_BASE_URL"].rsplit("/", 1)[0]
        self._root = root + "/"
        self._undo: list[Callable[[], None]] = []
        for name in ("httpx", "httpx2"):
            try:
                module = importlib.import_module(name)
            except ImportError:
                continue
            self._change(module)

    def _change(self, module: Any) -> None:
        mock = getattr(module, "MockTransport", ())
        sync, later = module.Client.send, module.AsyncClient.send

        def send(client: Any, request: Any, *args: Any, **more: Any) -> Any:
            self._lead(client, request, mock, module.URL)
            return sync(client, request, *args, **more)

        async def send_later(client: Any, request: Any, *args: Any, **more: Any) -> Any:
            self._lead(client, request, mock, module.URL)
            return await later(client, request, *args, **more)

        for owner, new, old in ((module.Client, send, sync), (module.AsyncClient, send_later, later)):
            owner.send = new
            self._undo.append(partial(setattr, owner, "send", old))

    def leave(self) -> None:
        """Puts back what was changed."""
        while self._undo:
            self._undo.pop()()

    def _lead(self, client: Any, request: Any, mock: Any, url: Any) -> None:
        address = str(request.url)
        vendor = HOSTS.get(request.url.host)
        if vendor is None and not address.startswith(self._root):
            return
        if isinstance(client._transport, mock):
            self.mocked += 1
            return
        if vendor is not None:
            request.url = url(self._bases[vendor] + request.url.raw_path.decode())
            request.headers["host"] = request.url.netloc.decode()
        place = caller()
        if place is not None:
            request.headers[_CALLER] = place


def caller() -> Optional[str]:
    """The file and line of the first frame that is neither of a package nor of Python itself."""
    found = _own(sys._getframe(1))
    if found is None and threading.current_thread() is not threading.main_thread():
        # A thread of a pool was started by a library: the main thread waits for it.
        found = _own(sys._current_frames().get(threading.main_thread().ident or 0))
    if found is None:
        return None
    path = Path(found.f_code.co_filename)
    try:
        shown = path.resolve().relative_to(Path.cwd()).as_posix()
    except (OSError, ValueError):
        shown = path.name
    return f"{quote(shown, safe='/ +@~()[],=')}:{found.f_lineno}"


def _own(frame: Optional[FrameType]) -> Optional[FrameType]:
    while frame is not None:
        name = frame.f_code.co_filename
        if not (name.startswith("<") or name.startswith(_LIBRARY) or any(part in name for part in _PACKAGES)):
            return frame
        frame = frame.f_back
    return None
