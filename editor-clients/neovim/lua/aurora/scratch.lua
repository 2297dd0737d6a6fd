-- Scratch buffers of Markdown, which belong to no file: answers, explanations, lists.
local settings = require('aurora.settings')

local M = {}

-- Opens, or shows again, the buffer `aurora://<name>` in a split; returns its number.
function M.open(name, lines)
  local title = 'aurora://' .. name
  local bufnr = vim.fn.bufnr('^' .. vim.fn.escape(title, '[]*?^$\\') .. '$')
  if bufnr == -1 then
    bufnr = vim.api.nvim_create_buf(false, true)
    vim.api.nvim_buf_set_name(bufnr, title)
    vim.bo[bufnr].bufhidden = 'hide'
    vim.bo[bufnr].swapfile = false
    vim.api.nvim_buf_set_keymap(bufnr, 'n', settings.current.close_key, '<cmd>close<cr>', { noremap = true, silent = true })
  end
  M.write(bufnr, 0, -1, lines)
  local window = vim.fn.bufwinid(bufnr)
  if window == -1 then
    vim.cmd('botright split')
    window = vim.api.nvim_get_current_win()
    vim.api.nvim_win_set_buf(window, bufnr)
    vim.wo[window].wrap = true
    vim.wo[window].linebreak = true
  else
    vim.api.nvim_set_current_win(window)
  end
  if vim.bo[bufnr].filetype ~= 'markdown' then
    vim.bo[bufnr].filetype = 'markdown'
  end
  return bufnr
end

-- Replaces lines, as `nvim_buf_set_lines` has them; a text that has line breaks in it becomes several.
function M.write(bufnr, first, last, lines)
  if not vim.api.nvim_buf_is_valid(bufnr) then
    return
  end
  local split = {}
  for _, line in ipairs(lines) do
    vim.list_extend(split, vim.split(line, '\n', { plain = true }))
  end
  vim.bo[bufnr].modifiable = true
  vim.api.nvim_buf_set_lines(bufnr, first, last, false, split)
  vim.bo[bufnr].modifiable = false
end

function M.append(bufnr, lines)
  M.write(bufnr, -1, -1, lines)
end

return M
