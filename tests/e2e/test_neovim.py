"""A real Neovim without a screen, set up with the very lines its README tells people to paste."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.neovims import blocks, programs, run, version
from tests.e2e.product import Product, product_in
from tests.e2e.repositories import shop, write

NOTES = """{
"resources": {"note": {"uriPattern": "/n", "description": "📝", "operations": {"GET": {"capabilityId": "read"}}}},
"capabilities": {"read": {"id": "read", "v": "1"}}
}
"""
BROKEN = '{\n  "protocol": "AURA",\n  "version": "2.0"\n}\n'


def setups() -> list[tuple[str, str]]:
    """Every Neovim with each set-up it should be able to run; a newer one still knows the older ways."""
    numbers = [name.removeprefix("neovim ") for name in blocks() if name.startswith("neovim ")]
    return [
        (program, f"neovim {number}")
        for program in programs()
        for number in numbers
        if tuple(map(int, number.split("."))) <= version(program)
    ]


pytestmark = pytest.mark.skipif(not programs(), reason="nvim is not installed")


@pytest.fixture(scope="module")
def product(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Product]:
    with product_in(tmp_path_factory.mktemp("aurora") / "home") as product:
        yield product


@pytest.fixture(scope="module")
def root(product: Product, tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = write(
        shop(tmp_path_factory.mktemp("work") / "shop"), {".well-known/aura.json": BROKEN, "notes/aura.json": NOTES}
    )
    product.json("index", cwd=root)
    return root


PROBE = """
local function ask(method, params)
  local answer
  local sent = vim.lsp.buf_request(0, method, params, function(err, result)
    answer = { err = err and err.message, result = result }
  end)
  wait(method, function() return answer ~= nil end)
  if answer.err then error(method .. ': ' .. answer.err) end
  return answer.result
end
  vim.cmd('edit src/basket.py')
  wait('attaching', attached)
  vim.api.nvim_win_set_cursor(0, { 20, 6 })
  out.hover = ask('textDocument/hover', vim.lsp.util.make_position_params(0, 'utf-16'))
  local document = { textDocument = vim.lsp.util.make_text_document_params() }
  out.symbols = ask('textDocument/documentSymbol', document)
  vim.api.nvim_buf_set_lines(0, 0, 0, false, { 'def typed_just_now():', '    pass', '' })
  out.unsaved = ask('textDocument/documentSymbol', document)
  out.recall = ask('aurora/recall', { query = 'total price of a basket' })
  vim.lsp.buf.hover()
  wait('the hover window', function() return #vim.api.nvim_list_wins() > 1 end)
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if window ~= vim.api.nvim_get_current_win() then
      out.shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
    end
  end
  vim.cmd('edit! .well-known/aura.json')
  wait('diagnostics', function() return #vim.diagnostic.get(0) > 0 end)
  out.diagnostics = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    local kept = { lnum = one.lnum, col = one.col, end_lnum = one.end_lnum, end_col = one.end_col }
    kept.message, kept.source, kept.severity = one.message, one.source, one.severity
    table.insert(out.diagnostics, kept)
  end
  vim.cmd('edit! notes/aura.json')
  local function text() return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), '\\n') end
  local function has(piece) return function() return text():find(piece, 1, true) ~= nil end end
  local function at(piece)
    for row, line in ipairs(vim.api.nvim_buf_get_lines(0, 0, -1, false)) do
      local column = line:find(piece, 1, true)
      if column then vim.api.nvim_win_set_cursor(0, { row, column }) end
    end
  end
  wait('attaching to the second manifest', function() return attached() and #vim.diagnostic.get(0) > 0 end)
  at('read"}}}}')
  local here = vim.lsp.util.make_position_params(0, 'utf-16')
  local to_items = vim.lsp.util.text_document_completion_list_to_complete_items
    or vim.lsp.completion._lsp_to_complete_items -- 0.12
  out.completed = to_items(ask('textDocument/completion', here), '')
  vim.lsp.buf.rename('fetch')
  wait('rename', has('"fetch": {"id": "fetch"'))
  out.renamed = text()
  vim.ui.select = function(items, _, choose) choose(items[1], 1) end
  at('"1"')
  vim.lsp.buf.code_action({ context = { only = { 'quickfix' }, diagnostics = {} } })
  wait('the quick fix', has('"v": 1'))
  if vim.lsp.buf.format then vim.lsp.buf.format() else vim.lsp.buf.formatting_sync() end
  out.formatted = text()
"""


@pytest.fixture(scope="module", params=setups() or [("", "none")], ids=lambda each: each[1])
def seen(request: pytest.FixtureRequest, product: Product, root: Path, tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What a Neovim set up by the README sees."""
    program, name = request.param
    folder = tmp_path_factory.mktemp("nvim")
    return run(program, blocks()[name], PROBE, root=root, folder=folder, environment=product.environment)


def test_the_setup_is_at_most_ten_lines_for_each_version() -> None:
    assert set(blocks()) == {"the plugin", "neovim 0.7", "neovim 0.8", "neovim 0.11"}
    for block in blocks().values():
        assert len(block.splitlines()) <= 11, "a comment and ten lines"


def test_it_attaches_to_the_workspace(seen: Any, root: Path) -> None:
    assert Path(seen["root"]).resolve() == root


def test_hover_shows_what_memory_knows(seen: Any, root: Path) -> None:
    text = seen["hover"]["contents"]["value"]
    assert text.startswith("`total_price` — *")
    assert "pay\\_by\\_card" in text and (root / "src" / "checkout.py").as_uri() in text
    assert any("total_price" in line for line in seen["shown"]), seen["shown"]


def test_document_symbols_are_those_of_the_buffer(seen: Any) -> None:
    assert [symbol["name"] for symbol in seen["symbols"]] == ["Basket", "total_price", "add_tax"]
    assert [symbol["name"] for symbol in seen["unsaved"]] == ["typed_just_now", "Basket", "total_price", "add_tax"]


def test_recall_answers_in_the_editor(seen: Any) -> None:
    assert seen["recall"]["results"][0]["name"] == "total_price"


def test_a_manifest_is_completed_renamed_fixed_and_laid_out(seen: Any) -> None:
    words = [each["word"].strip('"') for each in seen["completed"]]  # 0.12 leaves the quotes to the edit itself
    assert words == ["read"]
    assert seen["renamed"] == NOTES.rstrip("\n").replace('"read"', '"fetch"')
    laid_out = seen["formatted"].splitlines()
    assert json.loads(seen["formatted"]) == json.loads(seen["renamed"].replace('"1"', "1"))
    assert (
        '        "GET": {"capabilityId": "fetch"}' in laid_out or '\t\t\t\t"GET": {"capabilityId": "fetch"}' in laid_out
    )


def test_a_wrong_manifest_is_underlined(seen: Any) -> None:
    line = BROKEN.splitlines()[2]
    start = line.index('"2.0"')
    (wrong,) = [one for one in seen["diagnostics"] if (one["lnum"], one["col"]) == (2, start)]
    assert (wrong["end_lnum"], wrong["end_col"], wrong["source"]) == (2, start + 5, "aurora")
    assert wrong["severity"] == 1 and wrong["message"]
