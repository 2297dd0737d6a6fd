-- LSP client: the session with the daemon by `aurora lsp`, one per workspace, by whatever way this Neovim has for it.
local roots = require('aurora.roots')
local settings = require('aurora.settings')

local M = {}

local NAME = 'aurora'
local methods = vim.fn.has('nvim-0.11') == 1 -- `client:request(…)`; before that `client.request(…)`

local waiting = {} -- what to do when a session is ready, by root
local started = {} -- ids of sessions by root; one that is not ready yet is in no list of Neovim's
local ended = {} -- what to call when a client is gone

function M.notify(text, level)
  vim.notify('aurora: ' .. text, level or vim.log.levels.INFO)
end

function M.fail(text)
  M.notify(text, vim.log.levels.ERROR)
end

-- Calls `callback(client_id)` whenever a session ends.
function M.on_end(callback)
  table.insert(ended, callback)
end

local function say_ready(client)
  local root = client.config.root_dir
  local callbacks = waiting[root] or {}
  waiting[root] = nil
  for _, callback in ipairs(callbacks) do
    callback(client)
  end
end

local function forget(id)
  for root, known in pairs(started) do
    if known == id then
      started[root], waiting[root] = nil, nil
    end
  end
end

-- Exit handler: a session that ended badly is told with its code.
local function on_exit(code, _, id)
  vim.schedule(function()
    forget(id)
    for _, callback in ipairs(ended) do
      callback(id)
    end
    local leaving = vim.v.exiting ~= nil and vim.v.exiting ~= vim.NIL
    if code ~= 0 and not leaving then
      local program = table.concat(settings.current.cmd, ' ')
      M.fail(('`%s` ended with %d; what it said is in %s'):format(program, code, vim.lsp.get_log_path()))
    end
  end)
end

function M.place(root)
  return {
    root_dir = root,
    workspace_folders = { { uri = vim.uri_from_fname(root), name = vim.fn.fnamemodify(root, ':t') } },
  }
end

-- Configuration of the LSP client: command, root, capabilities, handlers, initialization options.
function M.config(root)
  local chosen = settings.current
  return vim.tbl_extend('error', root and M.place(root) or {}, {
    name = NAME,
    cmd = chosen.cmd,
    filetypes = chosen.filetypes,
    init_options = {
      askUser = true,
      deliverableChanges = true,
      hover = chosen.hover,
      codeLens = chosen.code_lens,
      diagnostics = chosen.diagnostics,
    },
    settings = {
      aurora = { hover = chosen.hover, codeLens = chosen.code_lens, diagnostics = chosen.diagnostics },
    },
    handlers = require('aurora.handlers'),
    before_init = function(params, config)
      params.initializationOptions = vim.tbl_extend('force', params.initializationOptions or {}, {
        workspaceTrusted = settings.trusts(config.root_dir),
      })
    end,
    on_init = say_ready,
    on_exit = on_exit,
  })
end

local function all()
  local list = vim.lsp.get_clients or vim.lsp.get_active_clients
  return vim.tbl_filter(function(client)
    return client.name == NAME
  end, list())
end

local function is_stopped(client)
  if methods then
    return client:is_stopped()
  end
  return client.is_stopped()
end

local function running(root)
  for _, client in pairs(all()) do
    if client.config.root_dir == root and not is_stopped(client) then
      return client
    end
  end
end

-- Whether the program can be run (executable on PATH).
local function installed()
  local program = settings.current.cmd[1]
  if vim.fn.executable(program) == 1 then
    return true
  end
  M.fail(("there is no program '%s'; install it with: pipx install aurora-context"):format(program))
  return false
end

-- Starts a session (language server) for a root.
local function start(root)
  if vim.lsp.config then -- what the user has chosen by `vim.lsp.config('aurora', …)` counts here as well
    local chosen = vim.tbl_extend('force', M.config(root), vim.lsp.config[NAME] or {}, M.place(root))
    started[root] = vim.lsp.start(chosen, { attach = false })
  else
    started[root] = vim.lsp.start_client(M.config(root))
  end
  return started[root] ~= nil
end

-- Calls `callback(client)` with a session for `root` that is ready, starting one where there is none.
function M.with(root, callback)
  local client = running(root)
  if client and client.initialized then
    callback(client)
    return
  end
  waiting[root] = waiting[root] or {}
  table.insert(waiting[root], callback)
  if not started[root] and not (installed() and start(root)) then
    waiting[root] = nil
  end
end

-- The workspace that a command is about: that of the buffer, else of the folder Neovim works in; nil after a word why.
function M.root(bufnr)
  local root = roots.of_buffer(bufnr) or roots.working_folder()
  if not root then
    M.fail('this file belongs to no workspace; open a folder with .git or .aurora in it')
  end
  return root
end

-- Sends a request; `handler(err, result)`. Returns a function that cancels it.
function M.request(client, method, params, handler)
  local sent, id
  if methods then
    sent, id = client:request(method, params, handler, 0)
  else
    sent, id = client.request(method, params, handler, 0)
  end
  if not sent then
    handler({ message = 'the session with the daemon has ended; try again' })
  end
  return function()
    if not sent then
      return
    end
    if methods then
      client:cancel_request(id)
    else
      client.cancel_request(id)
    end
  end
end

-- Asks a session, and calls `show(result)`; what goes wrong is told in one line.
function M.say(session, method, params, show)
  M.request(session, method, params, function(err, result)
    if err then
      M.fail(err.message)
    else
      show(result)
    end
  end)
end

-- Asks the workspace of the current buffer. `params` may be a function of the session; `show(result, session)`.
function M.ask(method, params, show)
  local root = M.root(vim.api.nvim_get_current_buf())
  if not root then
    return
  end
  M.with(root, function(session)
    M.say(session, method, type(params) == 'function' and params(session) or params, function(result)
      show(result, session)
    end)
  end)
end

-- Where the user is: `{ uri, position }`, nil in a buffer that the client does not know.
function M.context(client)
  local bufnr = vim.api.nvim_get_current_buf()
  if not vim.lsp.buf_is_attached(bufnr, client.id) then
    return nil
  end
  local params = vim.lsp.util.make_position_params(0, client.offset_encoding)
  return { uri = params.textDocument.uri, position = params.position }
end

-- Attaches the session of its root to a buffer, if it is a file of a workspace.
local function attach(bufnr)
  local root = roots.of_buffer(bufnr)
  if not root then
    return
  end
  if vim.lsp.start then -- 0.8 to 0.10
    if installed() then
      vim.api.nvim_buf_call(bufnr, function()
        started[root] = vim.lsp.start(M.config(root))
      end)
    end
    return
  end
  M.with(root, function(client)
    if vim.api.nvim_buf_is_loaded(bufnr) then
      vim.lsp.buf_attach_client(bufnr, client.id)
    end
  end)
end

-- Attaches the language server to every buffer of the chosen filetypes, now and later (autocommand).
function M.enable()
  if vim.lsp.config and vim.lsp.enable then
    local config = M.config(nil)
    config.root_dir = function(bufnr, use)
      local root = roots.of_buffer(bufnr)
      if root then
        use(root)
      end
    end
    vim.lsp.config(NAME, config)
    vim.lsp.enable(NAME)
    return
  end
  local group = vim.api.nvim_create_augroup('aurora', { clear = true })
  vim.api.nvim_create_autocmd('FileType', {
    group = group,
    pattern = settings.current.filetypes,
    callback = function(event)
      attach(event.buf)
    end,
  })
  for _, bufnr in ipairs(vim.api.nvim_list_bufs()) do
    if vim.api.nvim_buf_is_loaded(bufnr) and vim.tbl_contains(settings.current.filetypes, vim.bo[bufnr].filetype) then
      attach(bufnr)
    end
  end
end

return M
