"""Network ban (offline sandbox) of the model's process: what its libraries would like to download, they do not get."""

from __future__ import annotations

import os
import sys

OFFLINE = {
    "HF_HUB_OFFLINE": "1",
    "HF_DATASETS_OFFLINE": "1",
    "TRANSFORMERS_OFFLINE": "1",
    "HF_HUB_DISABLE_TELEMETRY": "1",
    "HF_HUB_DISABLE_IMPLICIT_TOKEN": "1",
    "ORT_DISABLE_TELEMETRY": "1",
    "DO_NOT_TRACK": "1",
}
"""Variables that the libraries ask before they try."""

_LOOKUPS = frozenset({"socket.getaddrinfo", "socket.gethostbyname", "socket.gethostbyaddr", "socket.getnameinfo"})
_SENDING = frozenset({"socket.connect", "socket.sendto", "socket.sendmsg", "socket.bind"})


def forbid_network() -> None:
    """From here on, this process looks up no name and opens no connection. There is no way back.

    Python's own sockets only: a library that brings a network stack of its own has to heed `OFFLINE`, as onnxruntime
    from 1.29 on does, which else keeps an identifier of the device and sends what it ran to its makers.
    """
    os.environ.update(OFFLINE)
    sys.addaudithook(_refuse)


def _refuse(event: str, arguments: tuple[object, ...]) -> None:
    """Audit hook that refuses look-ups and connections."""
    if event in _LOOKUPS or (event in _SENDING and not isinstance(arguments[-1], str | bytes)):
        raise PermissionError(f"a model runs without network: {event} {arguments[-1]!r} was refused")
