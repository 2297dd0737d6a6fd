-- Entry point of the plugin: `require('aurora').setup({})`, the commands of code lenses, the statusline.
local M = {}

-- What a click on a lens does: explain a definition, show a deliverable.
local function lenses()
  vim.lsp.commands['aurora.explain'] = function(command)
    require('aurora.explain').show(command.arguments[1])
  end
  vim.lsp.commands['aurora.deliverable'] = function(command)
    local asked = vim.deepcopy(command.arguments[1])
    require('aurora.deliverable').send(asked.action, asked)
  end
end

-- Options as in `:help aurora-options`. Attaches to files that are open and to those that will be.
function M.setup(options)
  require('aurora.settings').choose(options)
  lenses()
  require('aurora.client').enable()
end

-- For 'statusline': `%{%v:lua.require'aurora'.statusline()%}`.
function M.statusline()
  return require('aurora.statusline').text()
end

return M
