"""Global options (flags of every command, as `--json`, `--verbose`, `--no-color`): what they said, and what follows."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass
from pathlib import Path

import click

from aurora_cli.workspace import aurora_homes, find_workspace
from aurora_protocol.address import Address, home


@dataclass
class GlobalOptions:
    """The global options, gathered before and after the command's name."""

    named_workspace: str | None = None
    json: bool = False
    config: Path | None = None
    lifespan_policies: Path | None = None
    verbosity: int = 0
    no_color: bool = False

    @property
    def address(self) -> Address:
        """Where this user's daemon is."""
        return Address.of(home(os.environ))

    @property
    def workspace(self) -> Path:
        """The root of the workspace that the command is about."""
        if self.named_workspace is not None:
            return Path(self.named_workspace).resolve()
        return Path(find_workspace(os.fspath(self.here), aurora_homes(os.environ)))

    @property
    def here(self) -> Path:
        """The working folder. Raises UsageError when it was removed."""
        try:
            return Path.cwd()
        except FileNotFoundError as error:
            raise click.UsageError("the working folder is gone; cd to one that exists") from error

    @property
    def variables(self) -> dict[str, str]:
        """Environment variables by which a daemon that is started from here knows the configuration."""
        named = {
            "AURORA_CONFIG": self.config,
            "AURORA_CONFIG_FLAG": self.config,  # told apart from the user's own variable, which counts less
            "AURORA_LIFESPAN_POLICIES": self.lifespan_policies,
        }
        return {variable: os.fspath(path) for variable, path in named.items() if path is not None}

    def set_workspace(self, folder: str) -> None:
        self.named_workspace = folder

    def set_json(self, _: bool) -> None:
        self.json = True

    def set_no_color(self, _: bool) -> None:
        self.no_color = True

    def add_verbosity(self, times: int) -> None:
        self.verbosity += times

    def set_config(self, file: str) -> None:
        """Take the configuration file, if it is a JSON object."""
        self.config = _json_object(file)

    def set_lifespan_policies(self, file: str) -> None:
        """Take the file of lifespan policies, if it is a JSON object."""
        self.lifespan_policies = _json_object(file)


def _json_object(file: str) -> Path:
    """Check that a file holds a JSON object; its path. Raises BadParameter."""
    path = Path(file).resolve()
    try:
        document = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise click.BadParameter(f"{file} cannot be read as JSON: {error}") from error
    if not isinstance(document, dict):
        raise click.BadParameter(f"{file} must hold a JSON object")
    return path
