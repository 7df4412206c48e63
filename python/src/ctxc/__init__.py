"""The context compiler for Python: requests that agents send, recorded, checked and tested."""

from ._findings import Finding, check_request
from ._program import CtxcError
from ._recording import Call, Calls, CtxcWarning, Segment, Segments, record, strict
from ._registry import Context, Registry, Task

__all__ = [
    "Call",
    "Calls",
    "Context",
    "CtxcError",
    "CtxcWarning",
    "Finding",
    "Registry",
    "Segment",
    "Segments",
    "Task",
    "check_request",
    "record",
    "strict",
]
