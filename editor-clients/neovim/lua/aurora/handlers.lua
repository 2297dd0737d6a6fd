-- Handlers of what the daemon tells and asks of its own accord (LSP notifications, server-to-client requests).
local M = {}

-- 0.8 and later run this in a coroutine, and an input that opens a window may answer later; 0.7 has to wait here.
M['aurora/askUser'] = function(_, params)
  local answer, answered
  local asking = coroutine.running()
  local function take(text)
    answer, answered = text, true
    if asking and coroutine.status(asking) == 'suspended' then
      assert(coroutine.resume(asking))
    end
  end
  vim.ui.input({ prompt = params.question .. ' ' }, take)
  if not answered then
    if asking then
      coroutine.yield()
    else
      vim.wait(24 * 3600 * 1000, function()
        return answered
      end, 20)
    end
  end
  return { answer = answer ~= nil and answer ~= '' and answer or vim.NIL }
end

M['aurora/deliverableChanged'] = function(_, params)
  require('aurora.statusline').deliverable(params)
end

M['$/progress'] = function(err, params, context, config)
  if require('aurora.ask').stage(params.token, params.value) then
    return
  end
  require('aurora.statusline').progress(params.token, params.value, context.client_id)
  vim.lsp.handlers['$/progress'](err, params, context, config)
end

return M
