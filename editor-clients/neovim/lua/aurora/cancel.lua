-- :AurCancel: ends every question that is being answered.
local M = {}

function M.command()
  local number = require('aurora.ask').cancel()
  local client = require('aurora.client')
  client.notify(number == 0 and 'no question is being answered' or ('cancelled %d question%s'):format(number, number == 1 and '' or 's'))
end

return M
