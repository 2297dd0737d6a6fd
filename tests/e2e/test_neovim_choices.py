"""What the Neovim plugin chooses, in one Neovim that asks no daemon: whom it trusts, which folder is a workspace, what
the statusline says and when an answer is shown.
"""

from __future__ import annotations

import json
import os
import subprocess
from typing import Any

import pytest

from tests.e2e.neovims import CLIENT, programs
from tests.wait_limits import HANG

PROBE = """
vim.opt.rtp:prepend(os.getenv('PLUGIN'))
local settings, roots = require('aurora.settings'), require('aurora.roots')
local client, statusline, recall = require('aurora.client'), require('aurora.statusline'), require('aurora.recall')
local out = { trusts = {}, folder = {}, status = {}, shown = {} }

for name, trusted in pairs({
  ['a function that says true'] = function() return true end,
  ['a function that says something else'] = function() return 'yes' end,
  ['a list that has it'] = { '/w/shop/' },
  ['a list without it'] = { '/w' },
  ['everything'] = true,
}) do
  settings.choose({ trusted = trusted })
  out.trusts[name] = settings.trusts('/w/shop')
end
settings.choose({})
out.trusts['nobody said so'] = settings.trusts('/w/shop')

for _, name in ipairs({ 'home', 'plain', 'marked', 'disk' }) do
  vim.cmd('cd ' .. (name == 'disk' and '/' or os.getenv('FOLDERS') .. '/' .. name))
  out.folder[name] = roots.working_folder() or 'none'
end

vim.lsp.get_clients = function() return { { name = 'aurora' } } end
vim.lsp.get_active_clients = vim.lsp.get_clients
for _, status in ipairs({ 'executing', 'completed', 'verifying', 'failed' }) do
  statusline.deliverable({ deliverable = { status = status }, summary = 'add-search' })
  out.status[status] = statusline.text()
end

local function asked(fresh, results, hint)
  local did = {}
  client.notify = function(text) table.insert(did, text) end
  client.context = function() return nil end
  client.say = function(_, method) table.insert(did, method) end
  client.ask = function(_, _, answer) answer({ query = 'q', results = results, freshness = fresh, hint = hint }, {}) end
  recall.ask('q', 'quickfix')
  return #did > 0 and did or { 'shown' }
end
local one = { { file = 'a.py', name = 'f', kind = 'function', line_start = 1, score = 1, workspace = '/w' } }
local function fresh(changed)
  local usual = { indexed_at = 'then', files = 1, pending_files = 0, state = 'ready' }
  return vim.tbl_extend('force', usual, changed)
end
out.shown['all is indexed'] = asked(fresh({}), one)
out.shown['not all that is asked stands here'] = asked(fresh({}), one, 'No file here says so.')
out.shown['some is pending, but something was found'] = asked(fresh({ pending_files = 1 }), one)
local lines = {}
for name, changed in pairs({
  ['the line of its name'] = { line = 7 },
  ['of a file, one alone'] = { line = 7, kind = 'module' },
  ['told by an older daemon'] = {},
}) do
  asked(fresh({}), { vim.tbl_extend('force', one[1], { line_end = 9 }, changed) })
  local entry = vim.fn.getqflist()[1]
  lines[name] = { entry.lnum, entry.end_lnum }
end
out.lines = lines
out.shown['some is pending'] = asked(fresh({ pending_files = 1 }), {})
out.shown['no file yet'] = asked(fresh({ files = 0 }), {})
out.shown['indexing failed'] = asked(fresh({ state = 'error', pending_files = 1 }), {})

local did = {}
client.notify = function(text) table.insert(did, text) end
client.ask = function(_, _, answer) answer(nil, {}) end
require('aurora.explain').show({})
out.unknown = did

require('aurora.explain').show = function(asked_for) out.explained = asked_for.id end
recall.open({ file = '', id = 'reas:cache' })
vim.fn.writefile({ vim.fn.json_encode(out) }, os.getenv('PROBE_OUT'))
vim.cmd('qall!')
"""


@pytest.fixture(scope="module")
def seen(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What one Neovim saw of all of it."""
    if not programs():
        pytest.skip("nvim is not installed")
    folder = tmp_path_factory.mktemp("neovim")
    for name in ("home", "plain", "marked/.git"):
        (folder / name).mkdir(parents=True)
    (folder / "probe.lua").write_text(PROBE)
    environment = {
        "PATH": os.environ["PATH"],
        "HOME": str(folder / "home"),
        "PLUGIN": str(CLIENT),
        "FOLDERS": str(folder),
        "PROBE_OUT": str(folder / "out.json"),
    }
    command = [programs()[0], "--headless", "-u", "NONE", "-i", "NONE", "-n", "-c", f"luafile {folder / 'probe.lua'}"]
    done = subprocess.run([*command, "-c", "cquit"], env=environment, capture_output=True, text=True, timeout=HANG)
    assert done.returncode == 0, done.stderr
    found = json.loads((folder / "out.json").read_text())
    found["folder"] = {name: where.replace(str(folder), "") for name, where in found["folder"].items()}
    return found


def test_a_workspace_is_trusted_where_its_user_says_so_and_not_by_anything_like_it(seen: Any) -> None:
    assert seen["trusts"] == {
        "a function that says true": True,
        "a function that says something else": False,
        "a list that has it": True,
        "a list without it": False,
        "everything": True,
        "nobody said so": False,
    }


def test_a_home_and_the_whole_disk_are_no_workspace(seen: Any) -> None:
    assert seen["folder"] == {"home": "none", "plain": "/plain", "marked": "/marked", "disk": "none"}


def test_the_statusline_tells_of_what_is_open_and_not_of_what_has_ended(seen: Any) -> None:
    assert seen["status"] == {
        "executing": "aurora · add-search",
        "completed": "aurora",
        "verifying": "aurora · add-search",
        "failed": "aurora",
    }


def test_an_answer_is_shown_where_it_is_whole_or_is_one_and_else_after_indexing(seen: Any) -> None:
    """Where indexing failed it is shown too: to wait for it helps nobody."""
    later = ["indexing this workspace; the answer comes then", "aurora/index"]
    assert seen["shown"] == {
        "all is indexed": ["shown"],
        "not all that is asked stands here": ["No file here says so."],
        "some is pending, but something was found": ["shown"],
        "some is pending": later,
        "no file yet": later,
        "indexing failed": ["nothing is known of 'q'"],
    }


def test_a_constant_is_shown_at_its_line_and_not_where_its_file_begins(seen: Any) -> None:
    assert seen["lines"] == {
        "the line of its name": [7, 9],
        "of a file, one alone": [7, 7],
        "told by an older daemon": [1, 9],
    }


def test_that_nothing_is_known_at_the_cursor_is_told_in_a_line(seen: Any) -> None:
    assert seen["unknown"] == ["nothing is known of what is at the cursor; once the workspace is indexed, try again"]


def test_a_solved_question_which_stands_in_no_file_is_explained(seen: Any) -> None:
    assert seen["explained"] == "reas:cache"
