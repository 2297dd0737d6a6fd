-- Answers: a run of the nine phases rendered as Markdown: progress, answer, claims with sources, cost.
local M = {}

local STAGES = {
  guard = 'checking the question',
  assess = 'assessing complexity',
  retrieve = 'retrieving context',
  decompose = 'decomposing',
  verify = 'verifying',
  route = 'routing to agents',
  collect = 'collecting answers',
  synthesize = 'synthesizing',
  record = 'recording',
  respond = 'responding',
}

local ENDS = {
  partial = 'Answered in part',
  failed = 'Failed',
  blocked = 'Blocked',
  cancelled = 'Cancelled',
  interrupted = 'Interrupted',
  no_provider = 'No model is configured',
  dry_run = 'Dry run',
}

local function given(value)
  return value ~= nil and value ~= vim.NIL and value ~= ''
end

-- A line for what a stage tells; nil for the end, which the answer itself tells.
function M.stage_line(notice)
  if type(notice) ~= 'table' or notice.stage == 'done' then
    return nil
  end
  local name = STAGES[notice.stage] or notice.stage
  if notice.status ~= 'in_progress' and notice.status ~= 'complete' then
    name = ('%s: %s'):format(name, notice.status)
  end
  local said = { ('- `%3d %%` %s'):format(math.floor((notice.progress or 0) * 100), name) }
  if given(notice.detail) then
    table.insert(said, (notice.detail:gsub('%s+', ' ')))
  end
  if (notice.cost_usd or 0) > 0 then
    table.insert(said, ('$%.4f'):format(notice.cost_usd))
  end
  return table.concat(said, ' · ') .. (notice.status == 'in_progress' and ' …' or '')
end

local function sure(result)
  local said = {}
  if given(result.score) then
    table.insert(said, ('score %.2f'):format(result.score))
  end
  if given(result.confidence) then
    table.insert(said, ('confidence %.2f'):format(result.confidence))
  end
  if result.from_memory then
    table.insert(said, 'from memory')
  end
  if (result.calls or 0) == 0 then
    table.insert(said, 'no model asked, no cost')
  elseif (result.unpriced_calls or 0) > 0 then
    table.insert(said, ('$%.4f and %d calls of unknown price'):format(result.cost_usd or 0, result.unpriced_calls))
  else
    table.insert(said, ('$%.4f'):format(result.cost_usd or 0))
  end
  table.insert(said, ('%.1f s'):format((result.took_ms or 0) / 1000))
  return table.concat(said, ' · ')
end

-- The whole result. Places are paths below the workspace with their lines, which `gF` opens.
function M.lines(result)
  local lines = { '' }
  local function add(text)
    table.insert(lines, text)
  end
  if ENDS[result.state] then
    add(('**%s**%s'):format(ENDS[result.state], given(result.error) and ': ' .. result.error or '.'))
    add('')
  end
  if given(result.answer) then
    add(result.answer)
    add('')
  end
  if #(result.claims or {}) > 0 then
    add('## What it rests on')
    add('')
    for _, claim in ipairs(result.claims) do
      add(('- %s  [%s]'):format(claim.text:gsub('%s+', ' '), table.concat(claim.sources, ', ')))
    end
    add('')
  end
  if #(result.sources or {}) > 0 then
    add('## From memory')
    add('')
    for _, source in ipairs(result.sources) do
      local where = source.file ~= '' and ('%s:%d'):format(source.file, source.line_start) or source.id
      add(('- %s  %s  %.2f'):format(where, source.name, source.score))
    end
    add('')
  end
  for _, caveat in ipairs(result.caveats or {}) do
    add('> ' .. caveat)
  end
  for _, notice in ipairs(result.notices or {}) do
    add('> ' .. notice)
  end
  add('*' .. sure(result) .. '*')
  return lines
end

return M
