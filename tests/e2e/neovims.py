"""Real Neovims without a screen, each with folders of its own, that run a probe and write down what they saw."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

from tests.wait_limits import HANG

CLIENT = Path(__file__).resolve().parents[2] / "editor-clients" / "neovim"
README = CLIENT / "README.md"

PRELUDE = """
local out = {}
local function wait(what, probe)
  if not vim.wait(180000, probe, 20) then error('not in time: ' .. what) end
end
local function clients()
  return vim.lsp.get_clients and vim.lsp.get_clients({ bufnr = 0 }) or vim.lsp.buf_get_clients(0)
end
local function attached()
  for _, client in pairs(clients()) do
    if client.name == 'aurora' then out.root = client.config.root_dir return client.initialized ~= false end
  end
end
local function probe()
"""
END = """
end
local ok, problem = xpcall(probe, debug.traceback)
out.problem = not ok and tostring(problem) or nil
out.messages = vim.fn.execute('messages')
local encode = (vim.json or {}).encode or vim.fn.json_encode
vim.fn.writefile({ encode(out) }, os.getenv('PROBE_OUT'))
vim.cmd('qall!')
"""


def programs() -> list[str]:
    """The Neovim that is installed, and further ones that `AURORA_TEST_NVIM` names (as PATH is written)."""
    named = os.environ.get("AURORA_TEST_NVIM", "").split(os.pathsep)
    return [program for program in (shutil.which("nvim"), *named) if program]


def version(program: str) -> tuple[int, int]:
    """Major and minor."""
    said = subprocess.run([program, "--version"], capture_output=True, text=True, timeout=HANG, check=True).stdout
    found = re.match(r"NVIM v(\d+)\.(\d+)", said)
    assert found, said
    return int(found[1]), int(found[2])


def blocks() -> dict[str, str]:
    """The README's set-ups, by what they say they are for: `neovim 0.11`, `the plugin`."""
    found = re.findall(r"```lua\n(-- aurora: ([^\n]+)\n.*?)```", README.read_text("utf-8"), re.DOTALL)
    return {name: block for block, name in found}


def run(
    program: str, setup: str, probe: str, *, root: Path, folder: Path, environment: dict[str, str], plugin: bool = False
) -> Any:
    """Run `probe` (the body of a Lua function that fills `out`) in a Neovim set up by the lines of `setup`."""
    bin_folder = folder / "bin"
    bin_folder.mkdir(parents=True)
    aurora = bin_folder / "aurora"
    aurora.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    aurora.chmod(0o755)
    (folder / "init.lua").write_text(setup)
    (folder / "probe.lua").write_text(PRELUDE + probe + END)
    if plugin:  # where the README says it goes
        shutil.copytree(CLIENT, folder / "data" / "nvim" / "site" / "pack" / "aurora" / "start" / "aurora")
    variables = {
        **environment,
        "PATH": f"{bin_folder}{os.pathsep}{os.environ['PATH']}",
        "XDG_CONFIG_HOME": str(folder / "config"),
        "XDG_DATA_HOME": str(folder / "data"),
        "XDG_STATE_HOME": str(folder / "state"),
        "XDG_CACHE_HOME": str(folder / "cache"),
        "PROBE_OUT": str(folder / "out.json"),
    }
    command = [program, "--headless", "-n", "-u", str(folder / "init.lua"), "-c", f"luafile {folder / 'probe.lua'}"]
    done = subprocess.run(
        command,
        cwd=root,
        env=variables,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert (folder / "out.json").exists(), done.stdout + done.stderr
    out = json.loads((folder / "out.json").read_text())
    assert "problem" not in out, f"{out['problem']}\n{out['messages']}\n{done.stderr}"
    return out
