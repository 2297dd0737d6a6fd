"""The Neovim plugin in real Neovims, installed and set up as its README says: every command, with a real daemon."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.neovims import blocks, programs, run, version
from tests.e2e.product import Product, eventually, product_in
from tests.e2e.repositories import shop, write
from tests.orchestration.llm.loopback import LoopbackProvider, Request
from tests.orchestration.soar.minds import Mind
from tests.server.client_requests import MEDIUM, TWO, configure

BROKEN = '{\n  "protocol": "AURA",\n  "version": "2.0"\n}\n'

pytestmark = [
    pytest.mark.skipif(not programs(), reason="nvim is not installed"),
    pytest.mark.parametrize(
        "program", programs() or [""], ids=lambda program: ".".join(map(str, version(program))) if program else "none"
    ),
]


@pytest.fixture(scope="module")
def mind() -> Mind:
    """A model that asks back once."""
    mind = Mind(TWO)

    def work(request: Request) -> Any:
        if "RFC 6570" in json.dumps(request.json):
            return None
        return {"status": "partial", "summary": "unclear", "data": {}, "confidence": 0.3, "needs_user": "Which RFC?"}

    mind.instead["work"] = work
    return mind


@pytest.fixture(scope="module")
def provider(mind: Mind) -> Iterator[LoopbackProvider]:
    with LoopbackProvider() as provider:
        provider.otherwise = mind
        yield provider


@pytest.fixture(scope="module")
def product(provider: LoopbackProvider, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    home = tmp_path_factory.mktemp("aurora") / "home"
    configure(home, provider)
    with product_in(home, **provider.environ) as product:
        product.session(None).close()
        yield product


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A workspace that no daemon has seen."""
    return write(shop(tmp_path / "shop"), {".well-known/aura.json": BROKEN, "ended/nothing.txt": "\n"})


@pytest.fixture
def nvim(program: str, product: Product, root: Path, tmp_path: Path) -> Any:
    """Runs a probe in a Neovim that has the plugin."""

    def probe(text: str, setup: str = blocks()["the plugin"], cwd: Path = root) -> Any:
        folder = tmp_path / "nvim"
        return run(program, setup, text, root=cwd, folder=folder, environment=product.environment, plugin=True)

    return probe


LINES = """
  vim.ui.input = function(_, answer) answer(nil) end  -- nobody is there to be asked
  local function shown(name)
    return function() return vim.fn.bufname():find('aurora://' .. name, 1, true) ~= nil end
  end
  local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') end
  local function has(piece) return function() return text():find(piece, 1, true) ~= nil end end
  local function here() return { vim.api.nvim_buf_get_name(0), vim.fn.line('.') } end
"""


def test_it_attaches_hovers_and_underlines(nvim: Any, root: Path) -> None:
    out = nvim("""
  vim.cmd('edit src/basket.py')
  wait('attaching', attached)
  vim.api.nvim_win_set_cursor(0, { 20, 6 })
  wait('the hover window', function()
    vim.lsp.buf.hover()
    return vim.wait(1000, function() return #vim.api.nvim_list_wins() > 1 end)
  end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if window ~= vim.api.nvim_get_current_win() then
      out.shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
  vim.cmd('edit! .well-known/aura.json')
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  out.wrong = vim.tbl_map(function(each) return { each.lnum, each.col } end, vim.diagnostic.get(0))
  out.line = require('aurora').statusline()
  out.sessions = #vim.tbl_values(clients())
  vim.cmd('checkhealth aurora')
  out.health = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')
""")
    assert Path(out["root"]).resolve() == root.resolve()
    assert any("total_price" in line for line in out["shown"])
    assert [2, BROKEN.splitlines()[2].index('"2.0"')] in out["wrong"]
    assert out["line"].startswith("aurora") and out["sessions"] == 1
    assert re.search(r"aurora \d+\.\d+", out["health"]) and str(root) in out["health"]


def test_recall_in_a_workspace_never_seen_fills_the_quickfix_list_and_the_picker(nvim: Any, root: Path) -> None:
    out = nvim(
        LINES
        + """
  vim.cmd('AurMem total price of a basket')
  wait('the quickfix list', function() return #vim.fn.getqflist() > 0 and vim.bo.buftype == 'quickfix' end)
  out.title = vim.fn.getqflist({ title = 1 }).title
  out.first = vim.fn.getqflist()[1].text
  vim.cmd('cfirst')
  out.jumped = here()
  vim.cmd('enew | cclose')
  vim.ui.select = function(items, options, choose)
    out.prompt, out.offered = options.prompt, options.format_item(items[1])
    choose(items[1], 1)
  end
  vim.cmd('AurMem! total price of a basket')
  wait('the picked file', function() return vim.fn.expand('%:t') == 'basket.py' end)
  out.picked = here()
  vim.cmd('enew')
  vim.ui.input = function(options, answer) out.asked = options.prompt answer('pay by card') end
  vim.cmd('AurMem')
  wait('the second list', function() return vim.fn.getqflist({ title = 1 }).title == 'AurMem pay by card' end)
  local told
  vim.notify = function(text) told = text end
  vim.cmd('AurMem zyxwvut')
  wait('a word about nothing', function() return told ~= nil end)
  out.nothing = told
"""
    )
    assert out["title"] == "AurMem total price of a basket"
    assert "def total_price(basket: Basket) -> int" in out["first"]
    line = (root / "src" / "basket.py").read_text().splitlines()[out["jumped"][1] - 1]
    assert Path(out["jumped"][0]).samefile(root / "src" / "basket.py")
    assert "price" in line or "staticmethod" in line, "the line where the definition, its comment or decorator begins"
    assert out["picked"] == out["jumped"]
    assert out["prompt"] == "total price of a basket" and out["offered"].startswith("src/basket.py:")
    assert out["asked"] == "Recall: "
    assert "zyxwvut" in out["nothing"] and "\n" not in out["nothing"]


def test_explain_status_and_lenses(nvim: Any, root: Path) -> None:
    out = nvim(
        LINES
        + """
  vim.cmd('edit src/basket.py')
  wait('attaching', attached)
  vim.lsp.buf_request_sync(0, 'aurora/index', vim.empty_dict(), 240000)
  vim.api.nvim_win_set_cursor(0, { 20, 6 })
  vim.cmd('AurExplain')
  wait('the explanation', shown('explain'))
  out.explained, out.filetype, out.changeable = text(), vim.bo.filetype, vim.bo.modifiable
  vim.api.nvim_feedkeys('q', 'xt', false)
  out.closed = #vim.api.nvim_list_wins() == 1
  vim.cmd('AurStatus')
  wait('the status', shown('status'))
  out.status = text()
  vim.cmd('close')
  local answers = vim.lsp.buf_request_sync(0, 'textDocument/codeLens',
    { textDocument = vim.lsp.util.make_text_document_params() }, 240000)
  local _, answer = next(answers)
  local lens = vim.lsp.buf_request_sync(0, 'codeLens/resolve', answer.result[1], 240000)
  _, lens = next(lens)
  vim.lsp.commands[lens.result.command.command](lens.result.command, {})
  wait('the lens', shown('explain'))
  out.lens = text()
"""
    )
    assert (
        out["explained"].startswith("# total_price\n") and "def total_price(basket: Basket) -> int" in out["explained"]
    )
    assert "pay_by_card (src/checkout.py:" in out["explained"] and "activation" in out["explained"]
    assert (out["filetype"], out["changeable"], out["closed"]) == ("markdown", False, True)
    assert f"{root.resolve()}: ready" in out["status"]
    assert re.search(r", 1 connection$", out["status"], re.MULTILINE)
    assert out["lens"].startswith("# ")


def test_a_deliverable_from_start_to_end(nvim: Any) -> None:
    out = nvim(
        LINES
        + """
  vim.cmd('edit src/basket.py')
  wait('attaching', attached)
  local told = {}
  vim.notify = function(text) table.insert(told, text) end
  local function say(command)
    local before = #told
    vim.cmd('AurDeliverable ' .. command)
    wait(command, function() return #told > before end)
  end
  say('start add-search Find things by words')
  say('phase apply')
  say('task 3/8')
  say('iterate')
  say('recovery the tests failed')
  wait('the statusline', function() return require('aurora').statusline():find('3/8', 1, true) ~= nil end)
  out.line = require('aurora').statusline()
  vim.cmd('AurDeliverable show')
  wait('the deliverable', shown('deliverable'))
  out.shown = text()
  vim.cmd('close')
  say('complete')
  wait('the statusline again', function() return require('aurora').statusline() == 'aurora' end)
  vim.cmd('AurDeliverable list')
  wait('the list', shown('deliverables'))
  out.list = text()
  vim.cmd('close')
  say('start other')
  say('fail regression')
  say('phase sleep')
  say('dance')
  say('show nothing-of-the-kind')
  out.told = told
  out.completed = vim.fn.getcompletion('AurDeliverable ph', 'cmdline')
  out.phases = vim.fn.getcompletion('AurDeliverable phase ', 'cmdline')
"""
    )
    assert out["line"] == "aurora · add-search · apply · 3/8 tasks"
    assert out["shown"].startswith("# add-search · apply · 3/8 tasks") and "recoveries: 1" in out["shown"]
    assert "- add-search · completed" in out["list"]
    assert out["told"][:3] == [
        "aurora: add-search · planning",
        "aurora: add-search · apply",
        "aurora: add-search · apply · 3/8 tasks",
    ]
    assert out["told"][7] == "aurora: other · failed"
    assert "name a phase" in out["told"][8] and "there is no action 'dance'" in out["told"][9]
    assert "no deliverable nothing-of-the-kind" in out["told"][10]
    assert out["completed"] == ["phase"] and "apply" in out["phases"]


def test_ask_shows_its_stages_asks_back_and_answers(nvim: Any, mind: Mind, provider: LoopbackProvider) -> None:
    mind.waits = 0.0
    out = nvim(
        LINES
        + f"local question = {json.dumps(MEDIUM)}"
        + """
  out.questions = {}
  vim.ui.input = function(options, answer)
    table.insert(out.questions, options.prompt)
    vim.defer_fn(function() answer('RFC 6570') end, 50)
  end
  vim.cmd('AurAsk ' .. question)
  wait('the buffer', shown('ask'))
  local stages = {}
  wait('the answer', function()
    for _, line in ipairs(vim.api.nvim_buf_get_lines(0, 4, -1, false)) do
      if line:find('^%- `') then stages[line] = true end
    end
    return has('confidence')()
  end)
  out.text, out.stages = text(), vim.tbl_keys(stages)
  vim.cmd('AurCancel')
"""
    )
    text = out["text"]
    assert text.startswith(f"# {MEDIUM}\n")
    order = ["assessing complexity", "retrieving", "decomposing", "verifying", "routing", "collecting", "synthesizing"]
    places = [text.index(stage) for stage in order]
    assert places == sorted(places), text
    assert len(out["stages"]) > text.count("- `"), "what went on was shown before it was over"
    assert sum("Which RFC?" in each for each in out["questions"]) == 2, "one for each subgoal"
    assert any("RFC 6570" in json.dumps(request.json) for request in provider.requests)
    assert "## What it rests on" in text and re.search(r"\*score \d\.\d\d · confidence \d\.\d\d · \$", text)
    assert "no question is being answered" in out["messages"]


@pytest.mark.parametrize("by", ["vim.cmd('AurCancel')", "press('<C-c>')"], ids=["command", "key"])
def test_a_question_can_be_cancelled(nvim: Any, mind: Mind, provider: LoopbackProvider, by: str) -> None:
    mind.waits, dropped = 30.0, len(provider.dropped)
    try:
        out = nvim(
            LINES
            + """
  local function press(key)
    vim.api.nvim_feedkeys(vim.api.nvim_replace_termcodes(key, true, false, true), 'xt', false)
  end
  vim.cmd('AurAsk Explain why a cancelled question of this kind compares two designs')
  wait('the buffer', shown('ask'))
  wait('a stage that waits for the model', has('decomposing'))
  vim.wait(300, function() return false end)
"""
            + f"  {by}\n"
            + """
  wait('the word', has('*Cancelled.*'))
  vim.wait(1000, function() return false end)
  out.text = text()
"""
        )
    finally:
        mind.waits = 0.0
    assert out["text"].rstrip().endswith("*Cancelled.*"), "nothing is told of it afterwards"
    eventually(lambda: len(provider.dropped) > dropped, "the provider sees its client leave")


def test_a_question_whose_session_ends_says_so(nvim: Any, mind: Mind) -> None:
    mind.waits = 30.0
    try:
        out = nvim(
            LINES
            + """
  vim.cmd('edit src/basket.py')
  wait('attaching', attached)
  local session = vim.tbl_values(clients())[1]
  vim.cmd('AurAsk Explain why a question whose session ends compares two designs')
  wait('a stage that waits for the model', has('decomposing'))
  vim.lsp.stop_client(session.id, true)
  wait('the word', has('The session with the daemon ended'))
  vim.cmd('AurMem total price of a basket')
  wait('a new session', function() return #vim.fn.getqflist() > 0 end)
  out.found = #vim.fn.getqflist()
"""
        )
    finally:
        mind.waits = 0.0
    assert out["found"] > 0


def test_wrong_options_and_a_missing_program_are_told_in_one_line(nvim: Any) -> None:
    out = nvim(
        """
  local function wrong(options) local _, told = pcall(require('aurora').setup, options) return told end
  out.told = { wrong({ colour = 1 }), wrong({ limit = 'many' }), wrong({ results = 'window' }) }
  local told
  vim.notify = function(text) told = text end
  require('aurora').setup({ cmd = { 'aurora-that-is-not-there', 'lsp' } })
  vim.cmd('AurStatus')
  wait('a word', function() return told ~= nil end)
  out.missing = told
""",
        setup="",
    )
    assert out["told"] == [
        "aurora.setup: there is no option 'colour'; see :help aurora-options",
        "aurora.setup: limit must be a number, not a string",
        "aurora.setup: results must be 'quickfix' or 'select', not 'window'",
    ]
    assert "aurora-that-is-not-there" in out["missing"] and "pipx install" in out["missing"]


def test_trust_is_told_to_the_daemon_for_the_folders_named(nvim: Any, root: Path) -> None:
    trusting = "require('aurora').setup({{ trusted = {} }})"
    out = nvim(
        """
  local settings = require('aurora.settings')
  local root = vim.loop.cwd()
  local function given()
    local params = {}
    require('aurora.client').config(root).before_init(params, { root_dir = root })
    return params.initializationOptions.workspaceTrusted
  end
  out.none = given()
  require('aurora').setup({ trusted = { root .. '/' } })
  out.named = given()
  require('aurora').setup({ trusted = { root .. '/src' } })
  out.other = given()
  require('aurora').setup({ trusted = function(folder) return folder == root end })
  out.asked = given()
""",
        setup=trusting.format("false"),
    )
    assert (out["none"], out["named"], out["other"], out["asked"]) == (False, True, False, True)


def test_the_help_has_every_command_and_option(nvim: Any) -> None:
    out = nvim("""
  vim.cmd('helptags ' .. vim.fn.fnamemodify(vim.api.nvim_get_runtime_file('doc/aurora.txt', false)[1], ':h'))
  out.tags = {}
  for name, _ in pairs(vim.api.nvim_get_commands({})) do
    if name:find('^Aur') then
      vim.cmd('help :' .. name)
      table.insert(out.tags, name)
    end
  end
  vim.cmd('help aurora-options')
  out.help = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n')
  out.options = vim.tbl_keys(require('aurora.settings').current)
""")
    assert sorted(out["tags"]) == ["AurAsk", "AurCancel", "AurDeliverable", "AurExplain", "AurMem", "AurStatus"]
    assert all(re.search(rf"^{option}\s", out["help"], re.MULTILINE) for option in out["options"])
