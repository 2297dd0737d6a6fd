"""What can be configured: defaults, then `config.json` of the user, then `AURORA_*` variables (App. C).

A workspace's own `.aurora/config.json` has a say in the lifespan policies (`workspace.memory_settings`) and in how its
questions are answered (`configuration.layers`), never in the daemon: it could redirect where memory goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import msgspec
from msgspec import Meta, Struct

from aurora_protocol.address import home as aurora_home
from aurora_server.configuration.documents import Document, SettingsError, read_document, users_document
from aurora_server.configuration.values import PREFIX, section

if TYPE_CHECKING:
    from aurora_orchestration.settings import SoarSettings

__all__ = ["Settings", "SettingsError", "load", "load_manifest", "read_document"]

Positive = Annotated[float, Meta(gt=0)]


class DaemonSettings(Struct, frozen=True):
    """`daemon.*`: minutes without a connection until it ends itself; minutes a workspace stays open without users."""

    idle_minutes: Positive = 30.0
    linger_minutes: Positive = 10.0


class IndexingSettings(Struct, frozen=True):
    """`indexing.*`: worker processes (0 = as many as there are cores, at most 4), size limits, sweep and debounce."""

    workers: Annotated[int, Meta(ge=0, le=64)] = 0
    max_file_bytes: Annotated[int, Meta(ge=1024, le=64 << 20)] = 1 << 20
    max_files: Annotated[int, Meta(ge=1)] = 200_000
    debounce_seconds: Positive = 0.05
    sweep_seconds: Positive = 600.0


class MemorySettings(Struct, frozen=True):
    """`memory.*`: where memory files are kept; `{workspace}` in the path stands for `<name>-<hash>`."""

    database_path: str | None = None


class ActivationSettings(Struct, frozen=True):
    """`memory.activation.*`: the numbers of activation (AURORA §6.3)."""

    decay_rate: Annotated[float, Meta(ge=0, le=5)] = 0.5
    spread_factor: Annotated[float, Meta(ge=0, le=1)] = 0.7
    max_spread_hops: Annotated[int, Meta(ge=0, le=10)] = 3
    context_boost_max: Annotated[float, Meta(ge=0, le=1)] = 0.5
    retrieval_threshold: float | None = None
    """None: what matches a question is recalled however long ago it was used."""


class LearningSettings(Struct, frozen=True):
    """`memory.learning.*`: what a run's outcome adds to the activation of what it used (AURORA §6.7)."""

    success_boost: Annotated[float, Meta(ge=0, le=1)] = 0.2
    partial_boost: Annotated[float, Meta(ge=0, le=1)] = 0.05
    neutral: Annotated[float, Meta(ge=-1, le=1)] = 0.0
    failure_penalty: Annotated[float, Meta(ge=-1, le=0)] = -0.1


class CachingSettings(Struct, frozen=True):
    """`memory.caching_policy.*`: from which score on a result is kept, and kept as a pattern, and whether it is
    kept with how sure it was (AURORA §6.7).
    """

    cache_if_score_gte: Annotated[float, Meta(ge=0, le=1)] = 0.5
    mark_as_pattern_if_gte: Annotated[float, Meta(ge=0, le=1)] = 0.8
    include_confidence_flag: bool = True


class SemanticSettings(Struct, frozen=True):
    """`memory.semantic.*`: a model's folder (below the home folder, unless absolute), or `package:NAME`; on or off.

    Only the user's own configuration is asked: a workspace could name a model that was made to hide things.
    """

    model: str | None = None
    enabled: bool = True


class LoggingSettings(Struct, frozen=True):
    """`logging.*`: how much the daemon's log says, and where it goes.

    `file` and `json` are one: the file has a JSON object a line. `console` is standard error, as a daemon in the
    foreground has it anyway. `log_path` is the folder of the file, within the home folder where it begins with
    `~/.aurora`. Asked for when a daemon starts.
    """

    level: Annotated[str, Meta(pattern="^(DEBUG|INFO|WARNING|ERROR)$")] = "INFO"
    outputs: tuple[Literal["console", "file", "json"], ...] = ("file",)
    log_path: str = "~/.aurora/logs/"


class RotationSettings(Struct, frozen=True):
    """`logging.rotation.*`: a log file that would grow beyond the size is put aside; so many old ones are kept."""

    max_size_mb: Annotated[float, Meta(gt=0)] = 100.0
    max_files: Annotated[int, Meta(ge=0)] = 10


Level = Literal["error", "warning", "info", "hint", "off"]


class ManifestSettings(Struct, frozen=True):
    """`manifest.*`: the severity of rules, by rule, where it is to be another than the usual one.

    In AURORA_MANIFEST_SEVERITIES they are spelt `rule=level,rule=level`. Only the user's own configuration is asked: a
    workspace could silence what is wrong with it.
    """

    severities: dict[str, Level] = {}


class TelemetrySettings(Struct, frozen=True):
    """`telemetry.*`: where deliverables are exported to with OpenTelemetry; nowhere unless this or `OTEL_*` says so.

    `traces` is `otlp`, `console` or `none`; `metrics` also `prometheus`; `protocol` is `http/protobuf` or `grpc`;
    AURORA_TELEMETRY_HEADERS is spelt `name=value,name=value`. Only the user's own configuration is asked: a workspace
    could redirect it.
    """

    enabled: bool = True
    traces: str | None = None
    metrics: str | None = None
    protocol: str | None = None
    endpoint: str | None = None
    headers: dict[str, str] = {}


class DeliverableSettings(Struct, frozen=True):
    """`deliverables.*`: hours without an event after which an open one counts as stuck; the conformance below which
    what was accepted has failed; the window metrics look back on."""

    stuck_hours: Positive = 24.0
    conformance_threshold: Annotated[float, Meta(ge=0, le=1)] = 0.70
    window_days: Annotated[float, Meta(gt=0, le=3650)] = 7.0
    window_count: Annotated[int, Meta(ge=1, le=100_000)] = 20


class DetectSettings(Struct, frozen=True):
    """`deliverables.detect.*`: what deliverables are noticed by, each on or off. All only look.

    `work` is code that changes and tests that run; `prompts` makes a deliverable of a session's first prompt where none
    is open, and `prompt_texts` keeps its first sentence. `markdown_files` are patterns, separated by commas, of
    documents that count as specs where they hold a checklist (None: `checklists.PATTERNS`). A change whose folder is
    gone for `abandoned_minutes` has failed.
    """

    openspec: bool = True
    speckit: bool = True
    markdown: bool = True
    markdown_files: str | None = None
    git: bool = True
    work: bool = True
    hooks: bool = True
    prompts: bool = False
    prompt_texts: bool = False
    abandoned_minutes: Positive = 10.0


class LifespanSettings(Struct, frozen=True):
    """`memory.lifespan_policies` as it was given, in which file, and the file that `AURORA_LIFESPAN_POLICIES` names.

    What is in them is looked at when a workspace is opened: a bad policy must not keep the daemon from starting.
    """

    given: Any = None
    place: str = ""
    file: Path | None = None


class Settings(Struct, frozen=True):
    """Everything above, and the home folder it belongs to."""

    home: Path
    daemon: DaemonSettings = DaemonSettings()
    indexing: IndexingSettings = IndexingSettings()
    memory: MemorySettings = MemorySettings()
    activation: ActivationSettings = ActivationSettings()
    learning: LearningSettings = LearningSettings()
    caching_policy: CachingSettings = CachingSettings()
    semantic: SemanticSettings = SemanticSettings()
    logging: LoggingSettings = LoggingSettings()
    rotation: RotationSettings = RotationSettings()
    manifest: ManifestSettings = ManifestSettings()
    telemetry: TelemetrySettings = TelemetrySettings()
    deliverables: DeliverableSettings = DeliverableSettings()
    detect: DetectSettings = DetectSettings()
    lifespans: LifespanSettings = LifespanSettings()
    answering: SoarSettings | None = None
    """What is configured of answering questions; None where nothing is."""

    @property
    def soar(self) -> SoarSettings:
        """How questions are answered, workspaces' own configuration apart (`configuration.layers`)."""
        if self.answering is not None:
            return self.answering
        from aurora_server.configuration.soar import soar_of  # 9 ms that starting up need not pay

        return soar_of(Document(self.home / "config.json"), {"AURORA_HOME": str(self.home)})


_SECTIONS: dict[str, type[Struct]] = {
    "daemon": DaemonSettings,
    "indexing": IndexingSettings,
    "memory": MemorySettings,
    "memory.activation": ActivationSettings,
    "memory.learning": LearningSettings,
    "memory.caching_policy": CachingSettings,
    "memory.semantic": SemanticSettings,
    "logging": LoggingSettings,
    "logging.rotation": RotationSettings,
    "manifest": ManifestSettings,
    "telemetry": TelemetrySettings,
    "deliverables": DeliverableSettings,
    "deliverables.detect": DetectSettings,
}


def load(environ: Mapping[str, str], config_file: Path | None = None) -> Settings:
    """Read the settings of this user: `config_file`, else $AURORA_CONFIG, else `config.json` in the home folder.

    Raises SettingsError, also where a file that was named is missing.
    """
    return settings_of(users_document(environ, config_file), environ)


def settings_of(document: Document, environ: Mapping[str, str]) -> Settings:
    """The settings in the user's document, variables laid over them. Raises SettingsError."""
    path, content = document.path, document.content
    sections: dict[str, Any] = {
        name.rpartition(".")[2]: section(name, kind, content, path, environ) for name, kind in _SECTIONS.items()
    }
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
    return msgspec.structs.replace(Settings(aurora_home(environ)), **sections, lifespans=lifespans, answering=answering)


OF_ANSWERING = (
    "llm",
    "aurora",
    "scoring",
    "complexity",
    "agents",
    "signals",
    "guardrails",
    "cost_budgets",
    "headless",
    "logging.conversations",
    "reporting",
    "retrieval",
)
"""The sections that say how questions are answered: those of `configuration.soar`."""


def _says_how_to_answer(content: dict[str, Any], environ: Mapping[str, str]) -> bool:
    prefixes = tuple(f"{PREFIX}{name.replace('.', '_').upper()}_" for name in OF_ANSWERING)
    logging = content.get("logging", {})
    return (
        any(name in content for name in OF_ANSWERING)
        or "conversations" in logging
        or any(variable.startswith(prefixes) for variable in environ)
    )


def load_manifest(environ: Mapping[str, str], config_file: Path | None = None) -> ManifestSettings:
    """Read `manifest.*` alone, as `load` does: what is wrong elsewhere does not matter. Raises SettingsError."""
    document = users_document(environ, config_file)
    return section("manifest", ManifestSettings, document.content, document.path, environ)
