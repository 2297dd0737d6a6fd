-- :AurDeliverable: a change in flight, from its start to its end.
local client = require('aurora.client')
local scratch = require('aurora.scratch')

local M = {}

local choices = require('aurora.deliverable_choices')
local PHASES, FAILURES = choices.PHASES, choices.FAILURE_TYPES

-- What each action takes, read from the words behind it: params, or nil and what is wrong.
local actions = {
  start = function(words)
    if #words == 0 then
      return nil, 'name the change: AurDeliverable start CHANGE [description]'
    end
    return { change_id = words[1], description = words[2] and table.concat(words, ' ', 2) or nil }
  end,
  phase = function(words)
    if not vim.tbl_contains(PHASES, words[1] or '') then
      return nil, 'name a phase: ' .. table.concat(PHASES, ', ')
    end
    return { phase = words[1], change_id = words[2] }
  end,
  task = function(words)
    local done, total = (words[1] or ''):match('^(%d+)/(%d+)$')
    if not done then
      return nil, 'say how many are done: AurDeliverable task 3/8'
    end
    return { completed = tonumber(done), total = tonumber(total), change_id = words[2] }
  end,
  iterate = function(words)
    return { change_id = words[1] }
  end,
  recovery = function(words)
    return { reason = #words > 0 and table.concat(words, ' ') or nil }
  end,
  complete = function(words)
    return { change_id = words[1] }
  end,
  fail = function(words)
    if words[1] and not vim.tbl_contains(FAILURES, words[1]) then
      return nil, 'name a type of failure, or none: ' .. table.concat(FAILURES, ', ')
    end
    return { failure_type = words[1], change_id = words[2] }
  end,
  show = function(words)
    return { change_id = words[1] }
  end,
  list = function()
    return {}
  end,
}

local function summary(state)
  local ended = state.status == 'completed' or state.status == 'failed'
  local said = { state.change_id, ended and state.status or state.current_phase or state.status }
  if (state.tasks_total or 0) ~= 0 then
    table.insert(said, ('%d/%d tasks'):format(state.tasks_completed or 0, state.tasks_total))
  end
  return table.concat(said, ' · ')
end

local function show(state)
  local lines = { '# ' .. summary(state), '' }
  if state.description then
    vim.list_extend(lines, { state.description, '' })
  end
  table.insert(lines, '- begun ' .. state.started_at)
  for _, phase in ipairs(PHASES) do
    local record = (state.phases or {})[phase]
    if record and record.started_at then
      table.insert(lines, ('- %s: %s to %s'):format(phase, record.started_at, record.completed_at or 'now'))
    end
  end
  for tool, number in pairs(state.tool_calls or {}) do
    table.insert(lines, ('- tool %s: %d calls'):format(tool, number))
  end
  for name, key in pairs({ iterations = 'apply_iterations', recoveries = 'recovery_attempts' }) do
    if (state[key] or 0) ~= 0 then
      table.insert(lines, ('- %s: %d'):format(name, state[key]))
    end
  end
  scratch.open('deliverable', lines)
end

local function list(states)
  if #states == 0 then
    client.notify('no deliverables; begin one with :AurDeliverable start CHANGE')
    return
  end
  local lines = { '# Deliverables', '' }
  for _, state in ipairs(states) do
    table.insert(lines, '- ' .. summary(state))
  end
  scratch.open('deliverables', lines)
end

function M.send(action, params)
  params.action = action
  client.ask('aurora/deliverable', params, function(answer)
    if action == 'list' then
      list(answer.deliverables)
    elseif action == 'show' then
      show(answer)
    else
      client.notify(summary(answer))
    end
  end)
end

function M.command(given)
  local words = vim.deepcopy(given.fargs)
  local action = table.remove(words, 1)
  if not actions[action] then
    local known = vim.tbl_keys(actions)
    table.sort(known)
    client.fail(("there is no action '%s'; there are %s"):format(action, table.concat(known, ', ')))
    return
  end
  local params, wrong = actions[action](words)
  if wrong then
    client.fail(wrong)
    return
  end
  M.send(action, params)
end

-- Completion of the command's arguments: actions, phases, types of failure.
function M.complete(lead, line)
  local before = vim.split(vim.trim(line:sub(1, #line - #lead)), '%s+')
  local offered = {}
  if #before == 1 then
    offered = vim.tbl_keys(actions)
  elseif #before == 2 and before[2] == 'phase' then
    offered = PHASES
  elseif #before == 2 and before[2] == 'fail' then
    offered = FAILURES
  end
  offered = vim.tbl_filter(function(word)
    return vim.startswith(word, lead)
  end, offered)
  table.sort(offered)
  return offered
end

return M
