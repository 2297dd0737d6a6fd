"""Settings of the daemon: defaults, then `config.json` of the user, then `AURORA_*` variables (App. C).

A field here (and in `aurora_orchestration.settings`, for how questions are answered) is the whole of a setting: its
default, bounds and docstring are what files, variables, the JSON Schema and the settings page have (`make docs`).
A workspace's own `.aurora/config.json` has no say in these: it could redirect where memory goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from msgspec import Meta, Struct

from aurora_protocol.address import home as aurora_home
from aurora_server.configuration.config_file import ConfigFile, SettingsError, read_document, users_document
from aurora_server.configuration.values import PREFIX, section, variable_of

if TYPE_CHECKING:
    from aurora_orchestration.settings import SoarSettings

__all__ = ["Settings", "SettingsError", "load", "load_manifest", "read_document"]

Positive = Annotated[float, Meta(gt=0)]
Share = Annotated[float, Meta(ge=0, le=1)]

AT_START = Meta(extra={"in_force": "start"})
"""Mark of what holds from the start of the daemon to its end; everything else holds as soon as it is written."""


class DaemonSettings(Struct, frozen=True):
    """The background process that serves every editor and command of one user."""

    idle_minutes: Positive = 30.0
    """The daemon ends after so many minutes without a connection."""
    linger_minutes: Positive = 10.0
    """A workspace is closed so many minutes after its last user left; of more than 16, the first goes at once."""


class IndexingSettings(Struct, frozen=True):
    """Indexing: how a workspace's files become chunks."""

    workers: Annotated[int, Meta(ge=0, le=64)] = 0
    """Worker processes; `0` is one per core, at most 4."""
    max_file_bytes: Annotated[int, Meta(ge=1024, le=64 << 20)] = 1 << 20
    """Larger files are left out."""
    max_files: Annotated[int, Meta(ge=1)] = 200_000
    """At most so many files per workspace."""
    debounce_seconds: Positive = 0.05
    """Quiet time before a change is taken in."""
    sweep_seconds: Positive = 600.0
    """How often everything is looked over anew, for changes that no event told."""


class ActivationSettings(Struct, frozen=True):
    """Activation: how it is computed (AURORA §6.3)."""

    decay_rate: Annotated[float, Meta(ge=0, le=5)] = 0.5
    """How fast an access loses weight with time: the exponent of ACT-R's base level."""
    spread_factor: Share = 0.7
    """Share of activation that is left after each hop along relations."""
    max_spread_hops: Annotated[int, Meta(ge=0, le=10)] = 3
    """So many hops activation spreads."""
    context_boost_max: Share = 0.5
    """At most so much comes from the context of the question."""
    retrieval_threshold: float | None = None
    """Chunks below this activation are not recalled. Not set, what matches a question is recalled however long ago it
    was used."""


class LearningSettings(Struct, frozen=True):
    """Boosts: how much a run's outcome adds to the activation of the chunks it used (AURORA §6.7)."""

    success_boost: Share = 0.2
    """After a success."""
    partial_boost: Share = 0.05
    """After a partial success, for what helped; what did not loses as much."""
    neutral: Annotated[float, Meta(ge=-1, le=1)] = 0.0
    """After a partial success, for what nobody judged."""
    failure_penalty: Annotated[float, Meta(ge=-1, le=0)] = -0.1
    """After a failure; at most 0."""


class CachingSettings(Struct, frozen=True):
    """Results that are kept, by their score (AURORA §6.7)."""

    cache_if_score_gte: Share = 0.5
    """Results from this score on are kept."""
    mark_as_pattern_if_gte: Share = 0.8
    """Results from this score on are kept as patterns."""
    include_confidence_flag: bool = True
    """Whether a kept result says how sure it was (`confidence`)."""


class SemanticSettings(Struct, frozen=True):
    """A local embedding model, so that recall goes by meaning as well. Only the user's own configuration can name one:
    a workspace could name a model that was made to hide things."""

    model: Annotated[str | None, Meta(examples=["models/all-MiniLM-L6-v2", "package:my_models"])] = None
    """The model's folder, below `$AURORA_HOME` unless absolute, or `package:NAME` for one inside an installed
    package."""
    enabled: bool = True
    """Whether that model is used."""


class MemorySettings(Struct, frozen=True):
    """Memory: where it is kept, how it ranks, what is learned and for how long."""

    database_path: Annotated[str | None, Meta(examples=["~/.aurora/memory/{workspace}.db"])] = None
    """Where memory files go; `{workspace}` stands for the workspace's name and hash. `null` is
    `$AURORA_HOME/memory/`."""
    semantic: SemanticSettings = SemanticSettings()
    """A local embedding model, so that recall goes by meaning as well. Only the user's own configuration can name
    one."""
    activation: ActivationSettings = ActivationSettings()
    """How activation is computed (AURORA §6.3)."""
    learning: LearningSettings = LearningSettings()
    """Boosts by a run's outcome, for the activation of the chunks it used."""
    caching_policy: CachingSettings = CachingSettings()
    """Thresholds for results to be kept (AURORA §6.7)."""


class RotationSettings(Struct, frozen=True):
    """Rotation of the daemon's log files."""

    max_size_mb: Annotated[float, Meta(gt=0)] = 100.0
    """A file that would grow larger than this is put aside."""
    max_files: Annotated[int, Meta(ge=0)] = 10
    """So many old files are kept."""


class LoggingSettings(Struct, frozen=True):
    """Logs: the daemon's, which is opened when a daemon starts, and those of conversations."""

    level: Literal["DEBUG", "INFO", "WARNING", "ERROR"] = "INFO"
    """How much the daemon's log says."""
    outputs: tuple[Literal["console", "file", "json"], ...] = ("file",)
    """Where the daemon's log goes, when it starts. `file` and `json` are one: a file with a JSON object a line;
    `console` is standard error."""
    log_path: str = "~/.aurora/logs/"
    """The folder of the daemon's log files; `~/.aurora` stands for AURORA_HOME."""
    rotation: RotationSettings = RotationSettings()
    """When a log file is put aside."""


Level = Literal["error", "warning", "info", "hint", "off"]


class ManifestSettings(Struct, frozen=True):
    """Manifest checks: how manifests (`aura.json`) are checked. Only the user's own configuration is asked: a workspace
    could silence what is wrong with it.
    """

    severities: dict[str, Level] = {}
    """The severity of rules, by the rule's id, where it is to be another than the usual one; `off` silences a rule.
    `--severity RULE=LEVEL` weighs more. As a variable `rule=level,rule=level`."""


class TelemetrySettings(Struct, frozen=True):
    """Telemetry: where deliverables are exported to with OpenTelemetry: nowhere, unless this or the standard `OTEL_*`
    variables say so. Only the user's own configuration counts: a workspace could redirect it.
    """

    enabled: bool = True
    """Whether anything is exported, whatever `OTEL_*` says."""
    traces: Annotated[str | None, Meta(extra_json_schema={"enum": ["otlp", "console", "none", None]})] = None
    """Where traces go."""
    metrics: Annotated[
        str | None, Meta(extra_json_schema={"enum": ["otlp", "console", "prometheus", "none", None]})
    ] = None
    """Where metrics go."""
    protocol: Annotated[str | None, Meta(extra_json_schema={"enum": ["http/protobuf", "grpc", None]})] = None
    """How a collector is spoken to; `grpc` needs the `telemetry` extra."""
    endpoint: str | None = None
    """The collector's address, such as `http://localhost:4318`."""
    headers: dict[str, str] = {}
    """Headers that are sent along, by name. As a variable `name=value,name=value`."""


class DetectSettings(Struct, frozen=True):
    """Detection of deliverables: its sources, each on or off. All of them only look."""

    openspec: bool = True
    """Whether OpenSpec folders (`openspec/changes/…`) tell of changes."""
    speckit: bool = True
    """Whether Spec Kit folders (`specs/001-…`) tell of features."""
    markdown: bool = True
    """Whether Markdown specs with a checklist tell of changes."""
    markdown_files: str | None = None
    """Markdown files that count as specs, as patterns separated by commas; they count where they hold a checklist.
    Not set, the usual ones (`aurora_deliverables.detection.checklists`)."""
    plugins: bool = True
    """Whether the specs that installed plug-ins know tell of changes."""
    git: bool = True
    """Whether branches, commits and their trailers are looked at."""
    work: bool = True
    """Whether code that changes and tests that run tell of the phases."""
    hooks: bool = True
    """Whether agents' hooks are listened to."""
    prompts: bool = False
    """Whether a session's first prompt makes a deliverable where none is open."""
    prompt_texts: bool = False
    """Whether the first sentence of such a prompt is kept."""
    abandoned_minutes: Positive = 10.0
    """A change whose folder is gone for so many minutes has failed."""


class DeliverableSettings(Struct, frozen=True):
    """Tracking: how changes are tracked and measured (AURA-M)."""

    stuck_hours: Positive = 24.0
    """An open deliverable without an event for so many hours is stuck."""
    conformance_threshold: Share = 0.70
    """Conformance below which an accepted deliverable has failed."""
    window_days: Annotated[float, Meta(gt=0, le=3650)] = 7.0
    """Metrics look back on so many days …"""
    window_count: Annotated[int, Meta(ge=1, le=100_000)] = 20
    """… or on so many ended deliverables, whichever are fewer."""
    detect: Annotated[DetectSettings, AT_START] = DetectSettings()
    """Sources of detection, each on or off; all of them only look."""


SharedKind = Literal["reasoning", "access", "boost", "use", "run", "archived", "escalated", "deliverable", "people"]


class TeamSettings(Struct, frozen=True):
    """Sharing: what a team that was joined is sent, and what its members' entries count. Only the user's own
    configuration counts: a workspace could share more.
    """

    share: tuple[SharedKind, ...] = (
        "reasoning",
        "access",
        "boost",
        "use",
        "run",
        "archived",
        "escalated",
        "deliverable",
    )
    """Kinds of entries that are sent: patterns, uses of chunks, boosts, what patterns were made with, runs that were
    kept, chunks that were archived or flagged, events of deliverables. `people`, which nobody shares unless he says so,
    lets `aurora who` of colleagues name you and what you used. `aurora team preview` shows each entry."""
    names: Literal["plain", "hashed"] = "plain"
    """How a team that is joined from now on knows you, and whom you name in deliverables: by name, or, with `hashed`,
    by pseudonyms that nobody can guess who has not the team's key (`aurora team key`). The hub gets no name then: an
    entry that holds yours in a text stays."""
    sync_seconds: Annotated[Positive, AT_START] = 120.0
    """How often the daemon exchanges the records of open workspaces with the teams that were joined; what is learned
    is sent sooner."""
    weight: Annotated[float, Meta(gt=0, le=1)] = 0.5
    """What an access, or a boost, that a colleague's entry told of counts beside one's own."""


class LifespanSettings(Struct, frozen=True):
    """`memory.lifespan_policies` as it was given, in which file, and the file that `AURORA_LIFESPAN_POLICIES` names.

    What is in them is looked at when a workspace is opened: a bad policy must not keep the daemon from starting.
    """

    given: Any = None
    place: str = ""
    file: Path | None = None


class DaemonSections(Struct, frozen=True):
    """Sections of `config.json` that the daemon reads: each field is the section of its name."""

    daemon: DaemonSettings = DaemonSettings()
    indexing: Annotated[IndexingSettings, AT_START] = IndexingSettings()
    memory: Annotated[MemorySettings, AT_START] = MemorySettings()
    logging: LoggingSettings = LoggingSettings()
    deliverables: DeliverableSettings = DeliverableSettings()
    telemetry: Annotated[TelemetrySettings, AT_START] = TelemetrySettings()
    manifest: ManifestSettings = ManifestSettings()
    team: TeamSettings = TeamSettings()


SECTIONS: dict[str, type[Struct]] = {
    name: type(default)
    for name, default in zip(DaemonSections.__struct_fields__, DaemonSections.__struct_defaults__, strict=True)
}
"""The sections of the daemon by name; those of answering are `configuration.soar.SECTIONS`, imported where needed."""


class Settings(DaemonSections, frozen=True, kw_only=True):
    """Snapshot of the configuration: the daemon's sections, the home folder, and what others read of the same file."""

    home: Path
    lifespans: LifespanSettings = LifespanSettings()
    answering: SoarSettings | None = None
    """Settings of answering questions; None where there are none."""

    @property
    def soar(self) -> SoarSettings:
        """How questions are answered, workspaces' own configuration apart (`configuration.layers`)."""
        if self.answering is not None:
            return self.answering
        from aurora_server.configuration.soar import soar_of  # 9 ms that starting up need not pay

        return soar_of(ConfigFile(self.home / "config.json"), {"AURORA_HOME": str(self.home)})


def load(environ: Mapping[str, str], config_file: Path | None = None) -> Settings:
    """Read the settings of this user: `config_file`, else $AURORA_CONFIG, else `config.json` in the home folder.

    Raises SettingsError, also where a file that was named is missing.
    """
    return settings_of(users_document(environ, config_file), environ)


def settings_of(document: ConfigFile, environ: Mapping[str, str]) -> Settings:
    """The settings in the user's document, variables laid over them. Raises SettingsError."""
    path, content = document.path, document.content
    sections: dict[str, Any] = {name: section(name, kind, document, environ) for name, kind in SECTIONS.items()}
    policies = environ.get("AURORA_LIFESPAN_POLICIES")
    lifespans = LifespanSettings(
        given=content.get("memory", {}).get("lifespan_policies"),
        place=str(path),
        file=Path(policies).expanduser().absolute() if policies else None,
    )
    answering = None
    if _says_how_to_answer(content, environ):
        from aurora_server.configuration.soar import soar_of

        answering = soar_of(document, environ)
    return Settings(home=aurora_home(environ), lifespans=lifespans, answering=answering, **sections)


_NO_ANSWERING = ("$schema", "version", "retention_policies", *SECTIONS)
# A variable that is missing here costs the 9 ms of an import that was not needed, and nothing else.
_OTHER_VARIABLES = ("AURORA_HOME", "AURORA_CONFIG", "AURORA_CONFIG_FLAG", "AURORA_LIFESPAN_POLICIES", "AURORA_COMPLETE")


def _says_how_to_answer(content: dict[str, Any], environ: Mapping[str, str]) -> bool:
    """Whether anything may be configured of answering: whatever is not the daemon's own. Imports nothing to tell."""
    if any(name not in _NO_ANSWERING for name in content) or "conversations" in content.get("logging", {}):
        return True
    own = tuple(f"{variable_of(name)}_" for name in SECTIONS)
    elsewhere = variable_of("logging.conversations") + "_"
    return any(
        variable.startswith(elsewhere)
        or (variable.startswith(PREFIX) and variable not in _OTHER_VARIABLES and not variable.startswith(own))
        for variable in environ
    )


def load_manifest(environ: Mapping[str, str], config_file: Path | None = None) -> ManifestSettings:
    """Read `manifest.*` alone, as `load` does: what is wrong elsewhere does not matter. Raises SettingsError."""
    document = users_document(environ, config_file)
    return section("manifest", ManifestSettings, document, environ)
