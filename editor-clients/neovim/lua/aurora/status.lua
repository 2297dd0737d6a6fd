-- :AurStatus: what the daemon is doing.
local client = require('aurora.client')
local scratch = require('aurora.scratch')

local M = {}

local function size(bytes)
  return ('%.1f MiB'):format(bytes / 1024 / 1024)
end

local function count(number, noun)
  return ('%d %s%s'):format(number, noun, number == 1 and '' or 's')
end

function M.lines(status)
  local lines = {
    ('# aurora %s'):format(status.version),
    '',
    ('- process %d, %s, up %d min, %s'):format(
      status.pid, size(status.rss_bytes), math.floor(status.uptime_s / 60), count(status.connections, 'connection')
    ),
    ('- socket %s'):format(status.socket),
  }
  for _, workspace in ipairs(status.workspaces) do
    local facts = {
      workspace.state,
      count(workspace.files, 'file'),
      count(workspace.chunks, 'chunk'),
      size(workspace.database_bytes),
    }
    if workspace.pending_files > 0 then
      table.insert(facts, ('%d pending'):format(workspace.pending_files))
    end
    if workspace.skipped_files > 0 then
      table.insert(facts, ('%d skipped'):format(workspace.skipped_files))
    end
    if workspace.last_error ~= nil and workspace.last_error ~= vim.NIL then
      table.insert(facts, 'last error: ' .. workspace.last_error)
    end
    table.insert(lines, ('- %s: %s'):format(workspace.root, table.concat(facts, ' · ')))
  end
  return lines
end

function M.command()
  client.ask('aurora/status', vim.empty_dict(), function(status)
    scratch.open('status', M.lines(status))
  end)
end

return M
