"""A real Vim with ALE, set up with the very lines its README tells people to paste."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.e2e.product import Product, product_in
from tests.e2e.repositories import shop, write
from tests.wait_limits import HANG

README = Path(__file__).resolve().parents[2] / "editor-clients" / "vim" / "README.md"
VIM = shutil.which("vim")
ALE = Path("/usr/share/vim/vimfiles/pack/dist-bundle/opt/ale")
BROKEN = '{\n  "protocol": "AURA",\n  "version": "2.0"\n}\n'
PROBE = """
function! Wait(what, probe) abort
  for l:turn in range(400)
    if eval(a:probe)
      return
    endif
    sleep 50m
  endfor
  throw 'not in time: ' . a:what
endfunction
let g:out = {}
try
  edit .well-known/aura.json
  ALELint
  call Wait('diagnostics', '!empty(ale#engine#GetLoclist(bufnr("")))')
  let g:out.wrong = map(copy(ale#engine#GetLoclist(bufnr(''))), '[v:val.lnum, v:val.text, v:val.linter_name]')
  edit src/basket.py
  let g:ale_hover_to_preview = 1
  ALELint
  call search('def total_price')
  normal! 5l
  for s:turn in range(40)
    ALEHover
    sleep 250m
    if !empty(filter(range(1, winnr('$')), 'getwinvar(v:val, "&previewwindow")'))
      break
    endif
  endfor
  wincmd P
  let g:out.hover = join(getline(1, '$'), "\\n")
catch
  let g:out.problem = v:exception . ' at ' . v:throwpoint
endtry
call writefile([json_encode(g:out)], $PROBE_OUT)
qall!
"""

pytestmark = [
    pytest.mark.skipif(VIM is None, reason="vim is not installed"),
    pytest.mark.skipif(not ALE.exists(), reason="ALE is not installed (Debian: vim-ale)"),
]


@pytest.fixture
def product(tmp_path: Path) -> Iterator[Product]:
    with product_in(tmp_path / "home") as product:
        yield product


def test_ale_hovers_and_underlines(product: Product, tmp_path: Path) -> None:
    root = write(shop(tmp_path / "shop"), {".well-known/aura.json": BROKEN})
    subprocess.run(["git", "init", "-q"], cwd=root, check=True, timeout=HANG)
    product.json("index", cwd=root)
    (tmp_path / "bin").mkdir()
    aurora = tmp_path / "bin" / "aurora"
    aurora.write_text(f'#!/bin/sh\nexec "{sys.executable}" -P -m aurora_cli "$@"\n')
    aurora.chmod(0o755)
    (block,) = re.findall(r"```vim\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
    (tmp_path / "vimrc").write_text("set nocompatible noswapfile\nfiletype plugin on\n" + block)
    (tmp_path / "probe.vim").write_text(PROBE)
    environment = {
        **product.environment,
        "HOME": str(tmp_path),
        "TERM": "dumb",
        "PATH": f"{tmp_path / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "PROBE_OUT": str(tmp_path / "out.json"),
    }
    done = subprocess.run(
        [str(VIM), "-N", "-n", "-u", str(tmp_path / "vimrc"), "-S", str(tmp_path / "probe.vim"), "--not-a-term"],
        cwd=root,
        env=environment,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=HANG,
        check=False,
    )
    assert (tmp_path / "out.json").exists(), done.stdout[-2000:] + done.stderr[-2000:]
    seen = json.loads((tmp_path / "out.json").read_text())
    assert "problem" not in seen, seen["problem"]
    assert any(line == 3 and "2.0" in text and by == "aurora" for line, text, by in seen["wrong"]), seen["wrong"]
    assert "total_price" in seen["hover"]
