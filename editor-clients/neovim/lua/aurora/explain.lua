-- :AurExplain: what memory knows of one definition, and why it comes to mind.
local client = require('aurora.client')
local scratch = require('aurora.scratch')

local M = {}

local MOST = 8

local function day(moment)
  return (moment or ''):sub(1, 10)
end

local function related(links)
  local by, order = {}, {}
  for _, link in ipairs(links) do
    if not by[link.relation] then
      by[link.relation] = {}
      table.insert(order, link.relation)
    end
    table.insert(by[link.relation], ('%s (%s:%d)'):format(link.name, link.file, link.line))
  end
  return by, order
end

-- What memory knows, as Markdown: signature, docstring, activation term by term, commits, relations.
function M.lines(known)
  local chunk, terms = known.chunk, known.chunk.activation
  local where = chunk.file ~= '' and ('%s:%d-%d'):format(chunk.file, chunk.line_start, chunk.line_end) or chunk.id
  local lines = { '# ' .. chunk.name, '', where, '' }
  local signature = vim.trim((chunk.signature or ''))
  if signature ~= '' then
    vim.list_extend(lines, { '```' .. chunk.language, signature, '```', '' })
  end
  if known.docstring ~= '' then
    vim.list_extend(lines, { known.docstring, '' })
  end
  table.insert(
    lines,
    ('- activation %.2f = base level %.2f + spreading %.2f + context %.2f − decay %.2f + learned %.2f'):format(
      terms.total, terms.base_level, terms.spreading, terms.context_boost, terms.decay, terms.learned
    )
  )
  if #known.accesses > 0 then
    table.insert(lines, ('- brought to mind %d times, last on %s'):format(#known.accesses, day(known.accesses[#known.accesses])))
  end
  if #known.commits > 0 then
    table.insert(lines, ('- %d commits: %s'):format(#known.commits, table.concat(vim.list_slice(known.commits, 1, MOST), ', ')))
  end
  local by, order = related(known.relations)
  for _, relation in ipairs(order) do
    local names = by[relation]
    local more = #names > MOST and (' and %d more'):format(#names - MOST) or ''
    table.insert(lines, ('- %s %s%s'):format(relation, table.concat(vim.list_slice(names, 1, MOST), ', '), more))
  end
  for _, pattern in ipairs(known.patterns or {}) do
    table.insert(lines, ('- pattern: "%s" (%.2f, %d uses)'):format(pattern.query, pattern.score, pattern.uses))
  end
  return lines
end

-- `params` are those of `aurora/explain`, or a function that makes them for a session.
function M.show(params)
  client.ask('aurora/explain', params, function(known)
    if not known then
      client.notify('nothing is known of what is at the cursor; once the workspace is indexed, try again')
      return
    end
    scratch.open('explain', M.lines(known))
  end)
end

function M.command()
  M.show(function(session)
    return client.context(session)
      or { uri = vim.uri_from_bufnr(0), position = { line = vim.fn.line('.') - 1, character = 0 } }
  end)
end

return M
