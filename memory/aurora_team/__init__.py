"""Team hub: a PostgreSQL server to which members send what their records hold, and fetch what the others sent.

Imported only by a command of `aurora team`, which the daemon starts as well: psycopg is the extra `team`.
"""

from aurora_protocol import BAD_INPUT, AuroraError


class TeamError(AuroraError):
    """Error of a hub or of a membership; the message says what, where and the next step."""


class AddressRefused(TeamError):
    """Error of what was given as a hub's address."""

    exit_code = BAD_INPUT


class HubAway(TeamError):
    """Error of a hub that does not answer, or not as a hub does."""


class HubRefused(TeamError):
    """Error of what the hub's server does not let this role do."""


class HubTooNew(TeamError):
    """Error of a hub that a newer AURORA has shaped: this one goes on alone."""
