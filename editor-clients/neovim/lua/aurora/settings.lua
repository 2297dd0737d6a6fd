-- Settings (options of `setup`, defaults, validation): what a user can choose. A name that is not known, or a value of
-- a wrong type, is told, not ignored.
local M = {}

local defaults = {
  cmd = { 'aurora', 'lsp' },
  filetypes = {
    'bash', 'c', 'cpp', 'cs', 'go', 'java', 'javascript', 'javascriptreact', 'json', 'jsonc', 'kotlin', 'lua', 'markdown',
    'php', 'python', 'rst', 'ruby', 'rust', 'scala', 'sh', 'sql', 'svelte', 'swift', 'typescript', 'typescriptreact', 'vue',
    'yaml', 'zsh',
  },
  results = 'quickfix',
  limit = 20,
  trusted = false,
  hover = true,
  code_lens = true,
  diagnostics = true,
  cancel_key = '<C-c>',
  close_key = 'q',
}

local types = {
  cmd = { 'table' },
  filetypes = { 'table' },
  results = { 'string' },
  limit = { 'number' },
  trusted = { 'boolean', 'table', 'function' },
  hover = { 'boolean' },
  code_lens = { 'boolean' },
  diagnostics = { 'boolean' },
  cancel_key = { 'string' },
  close_key = { 'string' },
}

M.current = vim.deepcopy(defaults)

local function problem(name, value)
  if types[name] == nil then
    return ("aurora.setup: there is no option '%s'; see :help aurora-options"):format(name)
  end
  if not vim.tbl_contains(types[name], type(value)) then
    return ('aurora.setup: %s must be a %s, not a %s'):format(name, table.concat(types[name], ' or a '), type(value))
  end
  if name == 'results' and value ~= 'quickfix' and value ~= 'select' then
    return ("aurora.setup: results must be 'quickfix' or 'select', not '%s'"):format(value)
  end
end

-- Validates the options of `setup` and merges them with the defaults.
function M.choose(given)
  M.current = vim.deepcopy(defaults)
  for name, value in pairs(given or {}) do
    local wrong = problem(name, value)
    if wrong then
      error(wrong, 0)
    end
    M.current[name] = value
  end
end

-- Workspace trust: whether the user trusts the one at `root`: then its own configuration may run programs and name
-- models.
function M.trusts(root)
  local trusted = M.current.trusted
  if type(trusted) == 'function' then
    return trusted(root) == true
  end
  if type(trusted) ~= 'table' then
    return trusted
  end
  local function plain(path)
    return (vim.fn.resolve(vim.fn.fnamemodify(path, ':p')):gsub('/+$', ''))
  end
  return root ~= nil
    and vim.tbl_contains(
      vim.tbl_map(function(folder)
        return plain(vim.fn.expand(folder))
      end, trusted),
      plain(root)
    )
end

return M
