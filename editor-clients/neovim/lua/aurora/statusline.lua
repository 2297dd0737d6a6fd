-- Statusline: one short text (indexing progress, open deliverable), made of what the daemon pushes; it asks for
-- nothing.
local client = require('aurora.client')

local M = {}

local working = {} -- titles and percentages of work in the background, by client and token
local deliverable = nil -- the summary of the one that changed last, while it is open

local function redraw()
  pcall(vim.cmd, 'redrawstatus!') -- not allowed while a window is just being changed; the next redraw shows it
end

-- Progress notification (`$/progress`) of work in the background.
function M.progress(token, value, client_id)
  if type(value) ~= 'table' then
    return
  end
  local key = ('%d:%s'):format(client_id, token)
  if value.kind == 'end' then
    working[key] = nil
  elseif value.kind == 'begin' or value.kind == 'report' then
    local known = working[key] or {}
    working[key] = { client_id = client_id, title = value.title or known.title, done = value.percentage or known.done }
  end
  redraw()
end

function M.deliverable(params)
  local status = params.deliverable.status
  deliverable = status ~= 'completed' and status ~= 'failed' and params.summary or nil
  redraw()
end

client.on_end(function(id)
  for _, key in ipairs(vim.tbl_keys(working)) do
    if working[key].client_id == id then
      working[key] = nil
    end
  end
end)

-- `aurora`, `aurora 42 %% Indexing shop`, `aurora · add-search · apply · 4/8 tasks`; empty where there is no session.
function M.text()
  local list = vim.lsp.get_clients or vim.lsp.get_active_clients
  local there = vim.tbl_filter(function(each)
    return each.name == 'aurora'
  end, list())
  if #there == 0 then
    return ''
  end
  local text = 'aurora'
  local _, work = next(working)
  if work then
    text = ('%s %d %% %s'):format(text, work.done or 0, work.title or '')
  end
  if deliverable then
    text = text .. ' · ' .. deliverable
  end
  return (text:gsub('%%', '%%%%'))
end

return M
