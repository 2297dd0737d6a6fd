#!/usr/bin/env lua
local json = require("json")
local util = require 'lib.util'
local M = { limit = 10 }

--- Takes one.
-- @param name whose
local function take(name, n)
  if name then return util.find(name) elseif n then return nil end
  for i, v in ipairs(name) do M.push(v) end
  while true do break end
  local function inner() return 1 end
  return inner()
end

--[[ Puts one.
     Twice. ]]
function M:put(row) self.rows:add(row) end
function M.find(id) return take(id) end
M.drop = function(id) return M.find(id) end
local last = function() return 1 end
local handlers = { open = function() end, ["to close"] = function() end, deep = { run = function() end } }

return { take = take, reset = function() M.put(nil) end }
