"""Completion in real shells, for both names of the program."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.wait_limits import HANG

BASH = """
eval "$(aurora completion bash)"
ask() {
  COMP_WORDS=("$@") COMP_CWORD=$(( $# - 1 )) COMPREPLY=()
  "$function" "$1"
  printf '%s\\n' "${COMPREPLY[@]}"
}
function=$(complete -p "$1" | sed 's/.*-F \\([^ ]*\\).*/\\1/')
ask "$@"
"""
ZSH = """
autoload -Uz compinit && compinit -u -d "$HOME/dump"
eval "$(aurora completion zsh)"
compadd() { print -rl -- "${(@P)@[-1]}" }
_describe() { print -rl -- "${(@P)3}" }
words=("$@") CURRENT=$#
${_comps[$1]}
"""
FISH = """
aurora completion fish | source
complete -C "$argv"
"""
CASES = [
    (("aurora", "dae"), {"daemon"}),
    (("aur", "mani"), {"manifest"}),
    (("aurora", "daemon", "st"), {"start", "stop", "status"}),
    (("aur", "mem", "--bud"), {"--budget"}),
    (("aur", "m", "--lim"), {"--limit"}),
    (("aurora", "completion", ""), {"bash", "zsh", "fish"}),
    (("aurora", "--version", "ind"), {"index"}),
]


@pytest.fixture
def environment(tmp_path: Path) -> dict[str, str]:
    """Both programs on the PATH, and a home in which nobody has set anything up."""
    for name in ("aurora", "aur"):
        program = tmp_path / "bin" / name
        program.parent.mkdir(exist_ok=True)
        code = f"import sys; sys.argv[0] = '{name}'; from aurora_cli import main; sys.exit(main())"
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -c "{code}" "$@"\n')
        program.chmod(0o755)
    path = f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}"
    return {**os.environ, "PATH": path, "HOME": str(tmp_path), "AURORA_HOME": str(tmp_path / "aurora"), "TERM": "dumb"}


def said(command: list[str], environment: dict[str, str]) -> set[str]:
    done = subprocess.run(
        command, env=environment, capture_output=True, text=True, timeout=HANG, stdin=subprocess.DEVNULL
    )
    assert done.stderr == "", done.stderr
    words = {line.split("\t")[0].split(":")[0] for line in done.stdout.splitlines()}
    return {word for word in words if word}


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_a_shell_completes_commands_options_and_choices(
    shell: str, environment: dict[str, str], tmp_path: Path
) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"{shell} is not installed")
    for words, wanted in CASES:
        if shell == "fish":
            command = [program, "--no-config", "-c", FISH, " ".join(words)]
        elif shell == "zsh":
            command = [program, "-f", "-c", ZSH, "zsh", *words]
        else:
            command = [program, "--norc", "-c", BASH, "bash", *words]
        assert said(command, environment) == wanted, words
    assert not (tmp_path / "aurora").exists(), "completing starts no daemon and leaves nothing"


def test_a_wrong_request_is_one_line(environment: dict[str, str]) -> None:
    done = subprocess.run(
        ["aurora"],
        env={**environment, "_AURORA_COMPLETE": "tcsh_complete"},
        capture_output=True,
        text=True,
        timeout=HANG,
    )
    assert done.returncode == 2 and done.stdout == ""
    assert len(done.stderr.splitlines()) == 1 and "aurora completion" in done.stderr
