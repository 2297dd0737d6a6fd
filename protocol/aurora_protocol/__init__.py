"""Protocol: what is said on a wire: methods and messages, framing, the daemon's address, a client; and the manifest."""

FINE, NO, BAD_INPUT, NO_DAEMON, BLOCKED = 0, 1, 2, 3, 4
"""What a command exits with: fine; the answer is "no"; wrong usage or bad input; no daemon, or it failed; blocked."""

INTERRUPTED = 130

_INVALID_REQUEST, _INVALID_PARAMS, _REQUEST_FAILED, _CANCELLED = -32600, -32602, -32803, -32800
_REFUSED = "Refused"
"""The kind of failed request that is an answer: an event of a deliverable that was not taken."""


ENDED_UNASKED = "EndedUnasked"
"""The kind of a cancelled request that no client withdrew: its session, or the daemon, was ending."""


class AuroraError(Exception):
    """Base of every error whose message is written for users: one line that says what, where and the next step.

    `exit_code` is what a command ends with that such an error ends. `kind` is what programs tell errors apart by
    (`data.kind` of a JSON-RPC error): the name of the class. Each package's own errors have one base below this.
    """

    exit_code: int = NO_DAEMON
    kind: str | None = "AuroraError"

    def __init_subclass__(cls) -> None:
        cls.kind = cls.__name__


class ProtocolError(AuroraError):
    """Error of talking to the daemon, or to a site."""


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
        if code == _CANCELLED and kind != ENDED_UNASKED:
            self.exit_code = INTERRUPTED
        elif kind == _REFUSED:
            self.exit_code = NO
        elif code in (_INVALID_PARAMS, _INVALID_REQUEST, _REQUEST_FAILED):
            self.exit_code = BAD_INPUT


class SiteError(ProtocolError):
    """A site, its manifest or a call of it cannot be used as asked."""

    exit_code = BAD_INPUT


class CallBlocked(ProtocolError):
    """A safety rule of ours forbids what would be sent to a site; the message says which, and what allows it."""

    exit_code = BLOCKED
