-- Project root: which workspace a file belongs to: the nearest folder upward with the marker `.git` or `.aurora`, as the
-- command line has it.
local M = {}

local function is_there(path)
  return vim.loop.fs_stat(path)
end

local function real(path)
  return vim.loop.fs_realpath(path) or path
end

-- AURORA's own home marks no workspace: else every file of the user would belong to one.
local function is_home_of_aurora(mark)
  local named = vim.env.AURORA_HOME
  local usual = vim.fn.expand('~/.aurora')
  return real(mark) == real(usual) or (named ~= nil and named ~= '' and real(mark) == real(named))
end

-- Whether a folder has a root marker.
local function marked(folder)
  if is_there(folder .. '/.git') then
    return true
  end
  local mark = folder .. '/.aurora'
  local found = is_there(mark)
  return found ~= nil and found.type == 'directory' and not is_home_of_aurora(mark)
end

-- Root of a folder: upward search for a marker, from the folder itself.
function M.above(folder)
  folder = real(folder)
  while true do
    if marked(folder) then
      return folder
    end
    local above = vim.fn.fnamemodify(folder, ':h')
    if above == folder then
      return nil
    end
    folder = above
  end
end

local function below(path, folder)
  return path == folder or vim.startswith(path, folder .. '/')
end

-- The folder Neovim works in, unless that is the user's home or the whole disk.
function M.working_folder()
  local folder = real(vim.fn.getcwd())
  local found = M.above(folder)
  if found then
    return found
  end
  if folder == '/' or folder == real(vim.fn.expand('~')) then
    return nil
  end
  return folder
end

-- The workspace of a buffer; nil where it shows no file, or one that belongs to none.
function M.of_buffer(bufnr)
  local name = vim.api.nvim_buf_get_name(bufnr)
  if vim.bo[bufnr].buftype ~= '' or name == '' or name:find('^%a[%w+.-]+://') then
    return nil
  end
  local folder = vim.fn.fnamemodify(name, ':p:h')
  local found = M.above(folder)
  if found then
    return found
  end
  local here = M.working_folder()
  return here and below(real(folder), here) and here or nil
end

return M
