-- :AurMem (code search): what memory recalls for a question, as a quickfix list or in a picker.
local client = require('aurora.client')
local settings = require('aurora.settings')

local M = {}

local function title(result)
  local signature = vim.trim((result.signature or ''):gsub('%s+', ' '))
  local named = signature ~= '' and signature or (result.kind .. ' ' .. result.name)
  return (result.likely and 'maybe ' or '') .. named
end

-- What a result has to do with what was asked about; what else of its file answers; else what it is for.
local function about(result)
  if result.relation and result.relation ~= '' then
    return result.relation
  end
  if result.also and #result.also > 0 then
    local named = vim.tbl_map(function(each)
      return ('%s :%d'):format(each.name == '<module>' and 'the file itself' or each.name, each.line or each.line_start)
    end, result.also)
    return 'also here: ' .. table.concat(named, ', ')
  end
  return vim.trim((result.summary or ''):gsub('%s+', ' '))
end

local function path(result)
  return result.workspace .. '/' .. result.file
end

-- The lines of a result that answer: from the one of its name; of what is left of a file one alone.
local function answering(result)
  local first = type(result.line) == 'number' and result.line or result.line_start
  return first, result.kind == 'module' and first or result.line_end
end

-- A quickfix entry of a result.
local function quickfix_item(result)
  local text = ('%.2f  %s'):format(result.score, title(result))
  if about(result) ~= '' then
    text = text .. ' · ' .. about(result)
  end
  if result.file == '' then -- a solved question: nothing of it stands in a file
    return { text = text }
  end
  local first, last = answering(result)
  return { filename = path(result), lnum = first, end_lnum = last, col = 1, text = text }
end

-- Quickfix list of the results.
local function to_quickfix(answer)
  vim.fn.setqflist({}, ' ', {
    title = 'AurMem ' .. answer.query,
    items = vim.tbl_map(quickfix_item, answer.results),
    context = { aurora = true },
  })
  vim.cmd('botright copen')
end

-- Opens a result at the first line that answers; one that stands in no file is explained.
function M.open(result)
  if result.file == '' then
    require('aurora.explain').show({ id = result.id })
    return
  end
  vim.cmd("normal! m'")
  vim.cmd('edit ' .. vim.fn.fnameescape(vim.fn.fnamemodify(path(result), ':~:.')))
  local last = vim.api.nvim_buf_line_count(0)
  vim.api.nvim_win_set_cursor(0, { math.max(1, math.min((answering(result)), last)), 0 })
  vim.cmd('normal! zz')
end

-- Picker (vim.ui.select) of the results.
local function to_picker(answer)
  vim.ui.select(answer.results, {
    prompt = answer.query,
    kind = 'aurora',
    format_item = function(result)
      local where = result.file ~= '' and ('%s:%d  '):format(result.file, (answering(result))) or ''
      return ('%s%s  %.2f'):format(where, title(result), result.score)
    end,
  }, function(chosen)
    if chosen then
      M.open(chosen)
    end
  end)
end

local function show(answer, results)
  if #answer.results == 0 then
    client.notify(answer.hint or ("nothing is known of '%s'"):format(answer.query))
    return
  end
  if results == 'select' then
    to_picker(answer)
  else
    to_quickfix(answer)
  end
  if answer.hint then -- how many there are of what was asked for, or which words stand nowhere
    client.notify(answer.hint)
  end
end

-- Recalls, and shows the results as 'quickfix' or 'select'. A workspace seen for the first time is indexed before.
function M.ask(query, results)
  local function params(session)
    return { query = query, limit = settings.current.limit, context = client.context(session) }
  end
  client.ask('aurora/recall', params, function(answer, session)
    local fresh = answer.freshness
    local complete = fresh.indexed_at and fresh.files > 0 and fresh.pending_files == 0 and fresh.state == 'ready'
    if complete or (fresh.indexed_at and #answer.results > 0) or fresh.state == 'error' then
      show(answer, results)
      return
    end
    client.notify('indexing this workspace; the answer comes then')
    client.say(session, 'aurora/index', vim.empty_dict(), function()
      client.say(session, 'aurora/recall', params(session), function(whole)
        show(whole, results)
      end)
    end)
  end)
end

function M.command(given)
  local results = given.bang and 'select' or settings.current.results
  if given.args ~= '' then
    M.ask(given.args, results)
    return
  end
  vim.ui.input({ prompt = 'Recall: ' }, function(query)
    if query and vim.trim(query) ~= '' then
      M.ask(query, results)
    end
  end)
end

return M
