-- :AurAsk (streaming): a question for the nine phases. Its stages stream in, then the answer; it can be cancelled.
local answers = require('aurora.answers')
local client = require('aurora.client')
local scratch = require('aurora.scratch')
local settings = require('aurora.settings')

local M = {}

local asked = {} -- questions that are being answered, by their token
local count = 0

local function over(token, lines)
  local question = asked[token]
  if question then
    asked[token] = nil
    scratch.append(question.bufnr, lines)
  end
end

-- Shows one stage. Returns whether the token is that of a question.
function M.stage(token, value)
  local question = asked[token]
  if not question then
    return type(token) == 'string' and vim.startswith(token, 'aurora-ask-')
  end
  local line = answers.stage_line(value)
  if line then -- what goes on has one line, which tells its latest; what it came to takes its place
    local same = question.going_on == value.stage
    question.going_on = value.status == 'in_progress' and value.stage or nil
    scratch.write(question.bufnr, same and -2 or -1, -1, { line })
  end
  return true
end

-- Cancels the question with this token, or all of them. Returns how many there were.
function M.cancel(token)
  local cancelled = 0
  for _, each in ipairs(vim.tbl_keys(asked)) do
    if token == nil or token == each then
      local question = asked[each]
      cancelled = cancelled + 1
      over(each, { '', '*Cancelled.*' })
      question.cancel()
    end
  end
  return cancelled
end

client.on_end(function(id)
  for _, token in ipairs(vim.tbl_keys(asked)) do
    if asked[token].client_id == id then
      over(token, { '', '*The session with the daemon ended; ask again.*' })
    end
  end
end)

function M.ask(query)
  local root = client.root(vim.api.nvim_get_current_buf())
  if not root then
    return
  end
  client.with(root, function(session)
    count = count + 1
    local token = ('aurora-ask-%d-%d'):format(vim.fn.getpid(), count)
    local params = { query = query, partialResultToken = token, context = client.context(session) }
    local bufnr = scratch.open('ask/' .. count, {
      '# ' .. query:gsub('%s+', ' '),
      '',
      ('*%s or :AurCancel cancels, %s closes.*'):format(settings.current.cancel_key, settings.current.close_key),
      '',
    })
    vim.api.nvim_buf_set_keymap(bufnr, 'n', settings.current.cancel_key, '', {
      noremap = true,
      silent = true,
      callback = function()
        M.cancel(token)
      end,
    })
    asked[token] = { bufnr = bufnr, client_id = session.id, cancel = function() end }
    local cancel = client.request(session, 'aurora/query', params, function(err, result)
      if err then
        over(token, { '', '**' .. err.message .. '**' })
      else
        over(token, answers.lines(result))
      end
    end)
    if asked[token] then
      asked[token].cancel = cancel
    end
  end)
end

function M.command(given)
  if given.args ~= '' then
    M.ask(given.args)
    return
  end
  vim.ui.input({ prompt = 'Ask: ' }, function(query)
    if query and vim.trim(query) ~= '' then
      M.ask(query)
    end
  end)
end

return M
