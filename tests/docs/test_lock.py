"""`requirements-dev.lock` is one that pyproject.toml allows."""

import re
import tomllib

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

from docs.generate.citations import ROOT


def test_every_dependency_is_locked_at_a_version_that_is_allowed() -> None:
    lock = (ROOT / "requirements-dev.lock").read_text(encoding="utf-8")
    locked = {canonicalize_name(name): Version(at) for name, at in re.findall(r"^([\w.-]+)==([\w.]+)", lock, re.M)}
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    wanted = [project["dependencies"], *(extras[name] for name in ("semantic", "telemetry", "dev", "docs"))]
    for line in (line for some in wanted for line in some if not line.startswith(project["name"])):
        requirement = Requirement(line)
        name = canonicalize_name(requirement.name)
        assert name in locked, f"{line}: run `make lock`"
        assert requirement.specifier.contains(locked[name]), f"{line}, locked is {locked[name]}: run `make lock`"
