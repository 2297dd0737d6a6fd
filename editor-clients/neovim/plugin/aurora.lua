-- User commands (lazy loading): what they do is loaded when one is first used.
if vim.g.loaded_aurora or vim.fn.has('nvim-0.7') == 0 then
  return
end
vim.g.loaded_aurora = true

local function command(name, module, options)
  vim.api.nvim_create_user_command(name, function(given)
    require(module).command(given)
  end, options)
end

command('AurMem', 'aurora.recall', { nargs = '*', bang = true, desc = 'Recall code by a question; with ! in a picker' })
command('AurAsk', 'aurora.ask', { nargs = '*', desc = 'Ask a question and watch the answer come' })
command('AurCancel', 'aurora.cancel', { nargs = 0, desc = 'Cancel the questions that are being answered' })
command('AurExplain', 'aurora.explain', { nargs = 0, desc = 'What memory knows of the definition at the cursor' })
command('AurStatus', 'aurora.status', { nargs = 0, desc = 'What the daemon is doing' })
command('AurDeliverable', 'aurora.deliverable', {
  nargs = '+',
  desc = 'Begin, move on, finish or show a deliverable',
  complete = function(...)
    return require('aurora.deliverable').complete(...)
  end,
})
