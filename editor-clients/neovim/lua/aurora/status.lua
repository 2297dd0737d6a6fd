-- :AurStatus: what the daemon is doing.
local client = require('aurora.client')
local scratch = require('aurora.scratch')

local M = {}

local function size(bytes)
  return ('%.1f MiB'):format(bytes / 1024 / 1024)
end

function M.lines(status)
  local lines = {
    ('# aurora %s'):format(status.version),
    '',
    ('- process %d, %s, up %d min, %d connections'):format(
      status.pid, size(status.rssBytes), math.floor(status.uptimeS / 60), status.connections
    ),
    ('- socket %s'):format(status.socket),
  }
  for _, workspace in ipairs(status.workspaces) do
    local facts = {
      workspace.state,
      ('%d files'):format(workspace.files),
      ('%d chunks'):format(workspace.chunks),
      size(workspace.databaseBytes),
    }
    if workspace.pendingFiles > 0 then
      table.insert(facts, ('%d pending'):format(workspace.pendingFiles))
    end
    if workspace.skippedFiles > 0 then
      table.insert(facts, ('%d skipped'):format(workspace.skippedFiles))
    end
    if workspace.lastError ~= nil and workspace.lastError ~= vim.NIL then
      table.insert(facts, 'last error: ' .. workspace.lastError)
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
