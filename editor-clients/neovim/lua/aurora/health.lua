-- :checkhealth aurora (health check): is the program there, does it run, which sessions are there.
local settings = require('aurora.settings')

local M = {}

local health = vim.health or require('health')
local start = health.start or health.report_start
local ok = health.ok or health.report_ok
local warn = health.warn or health.report_warn
local fail = health.error or health.report_error

-- Health check: program, version, sessions.
function M.check()
  start('aurora')
  local program = settings.current.cmd[1]
  if vim.fn.executable(program) == 0 then
    fail(("there is no program '%s'"):format(program), { 'pipx install aurora-context' })
    return
  end
  local said = vim.trim(vim.fn.system({ program, '--version' }))
  if vim.v.shell_error == 0 then
    ok(said)
  else
    fail(('`%s --version` ended with %d: %s'):format(program, vim.v.shell_error, said))
  end
  local list = vim.lsp.get_clients or vim.lsp.get_active_clients
  local roots = {}
  for _, client in pairs(list()) do
    if client.name == 'aurora' then
      table.insert(roots, tostring(client.config.root_dir))
    end
  end
  if #roots == 0 then
    warn('no session with the daemon in this Neovim', { "call require('aurora').setup() and open a file of a workspace" })
  else
    ok('sessions: ' .. table.concat(roots, ', '))
  end
end

return M
