"""Protocol: what is said on a wire: methods and messages, framing, the daemon's address, a client; and the manifest."""


class ProtocolError(Exception):
    """Something about talking to the daemon; the message says what, where and the next step."""


class FrameError(ProtocolError):
    """The bytes are not LSP base-protocol frames, or exceed a limit; the session cannot go on."""


class DaemonUnreachable(ProtocolError):
    """No daemon answers, and none could be started."""


class RequestFailed(ProtocolError):
    """The daemon answered a request with a JSON-RPC error; `kind` is its `data.kind`, where it has one."""

    def __init__(self, message: str, code: int, kind: str | None = None) -> None:
        super().__init__(message)
        self.code = code
        self.kind = kind


class SiteError(ProtocolError):
    """A site, its manifest or a call of it cannot be used as asked; the message says what, where and the next step."""


class Blocked(ProtocolError):
    """A safety rule of ours forbids it; the message says which, and what allows it."""
