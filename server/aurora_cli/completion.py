"""`aurora completion` (tab completion): the script by which bash, zsh or fish complete `aurora` and `aur`, and the
answers to what they then ask.
"""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

ASKED_BY = "_AURORA_COMPLETE"
"""The variable in which a shell says what it wants, as click spells it: `bash_complete`."""

PROGRAMS = ("aurora", "aur")


@click.command()
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
@click.pass_context
def completion(ctx: click.Context, shell: str) -> None:
    """Print the completion script for a shell.

    \b
    bash: echo 'eval "$(aurora completion bash)"' >> ~/.bashrc
    zsh:  echo 'eval "$(aurora completion zsh)"' >> ~/.zshrc, after compinit
    fish: aurora completion fish > ~/.config/fish/completions/aurora.fish
    """
    found = get_completion_class(shell)
    assert found is not None, f"click completes in {shell}"
    command = ctx.find_root().command
    for program in PROGRAMS:
        print(found(command, {}, program, ASKED_BY).source())


def answer(command: click.Command, program: str, instruction: str) -> int:
    """Answer a shell that asks for completions of the command line it shows in its variables."""
    shell, _, wanted = instruction.partition("_")
    found = get_completion_class(shell)
    if found is None or wanted != "complete":
        raise click.UsageError(f"{ASKED_BY} is {instruction!r}; it is set by the scripts of: aurora completion")
    print(found(command, {}, program, ASKED_BY).complete())
    return 0
