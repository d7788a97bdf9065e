-- Steps of a person in Neovim with a program, through the client of the protocol that Neovim has:
-- each says what the editor shows then. Arguments in the environment: FELIS_SETUP, the setup of the
-- book; FELIS_PROGRAM, the file.

local function say(step, text)
  io.stdout:write(step .. ": " .. tostring(text):gsub("\n", "\n  ") .. "\n")
end

-- Waits until a condition holds; if it does not, the next line of the transcript is another one.
local function wait(condition)
  return vim.wait(60000, condition, 20)
end

local clients = vim.lsp.get_clients

vim.cmd("filetype on")
dofile(os.getenv("FELIS_SETUP"))
vim.cmd("edit " .. vim.fn.fnameescape(os.getenv("FELIS_PROGRAM")))
say("filetype", vim.bo.filetype)
wait(function() return #clients() == 1 and clients()[1].initialized end)
say("server", clients()[1].name)

local function diagnostics()
  local lines = {}
  for _, one in ipairs(vim.diagnostic.get(0)) do
    table.insert(lines, string.format("%d:%d %s", one.lnum + 1, one.col + 1, one.message))
  end
  return table.concat(lines, "\n")
end

local function text()
  return table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\n")
end

-- The windows that float above the text.
local function shown()
  for _, window in ipairs(vim.api.nvim_list_wins()) do
    if vim.api.nvim_win_get_config(window).relative ~= "" then
      local lines = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(window), 0, -1, false)
      vim.api.nvim_win_close(window, true)
      return table.concat(lines, "\n")
    end
  end
end

local function look(step, act)
  local found
  act()
  wait(function() found = shown() return found ~= nil end)
  say(step, found)
end

wait(function() return #vim.diagnostic.get(0) > 0 end)
say("diagnostics", diagnostics())

-- The quick fix of the message: the misspelled name.
vim.api.nvim_win_set_cursor(0, { 3, 10 })
vim.lsp.buf.code_action({ apply = true })
wait(function() return not text():find("totl", 1, true) end)
say("after the quick fix", text())
wait(function() return #vim.diagnostic.get(0) == 0 end)
say("diagnostics then", diagnostics())

vim.api.nvim_win_set_cursor(0, { 3, 10 })
look("hover", vim.lsp.buf.hover)

vim.lsp.buf.definition()
wait(function() return vim.api.nvim_win_get_cursor(0)[1] == 1 end)
say("definition", table.concat(vim.api.nvim_win_get_cursor(0), ", "))

vim.lsp.buf.rename("whole")
wait(function() return not text():find("total", 1, true) end)
say("renamed", text())

-- A call that is being written: the parameters, and names that fit.
vim.api.nvim_buf_set_lines(0, 3, 3, false, { "println (whole (" })
vim.api.nvim_win_set_cursor(0, { 4, 15 })
vim.cmd("startinsert!")
look("signature", function()
  vim.api.nvim_win_set_cursor(0, { 4, 16 })
  vim.lsp.buf.signature_help()
end)

vim.api.nvim_buf_set_lines(0, 3, 4, false, { "println (wh" })
vim.api.nvim_win_set_cursor(0, { 4, 11 })
local answers = vim.lsp.buf_request_sync(0, "textDocument/completion", {
  textDocument = vim.lsp.util.make_text_document_params(0),
  position = { line = 3, character = 11 },
}, 60000)
local words = {}
for _, answer in pairs(answers) do
  for _, item in ipairs(answer.result.items or answer.result) do table.insert(words, item.label) end
end
say("completion", table.concat(words, " "))
vim.api.nvim_buf_set_lines(0, 3, 4, false, {})

-- The layout of the text.
vim.api.nvim_buf_set_lines(0, 1, 2, false, { "val   x=whole  ( [1,2,3] );" })
vim.lsp.buf.format({ async = false, timeout_ms = 60000 })
say("formatted", text())
vim.cmd("silent write")

local function stopped() return #clients() == 0 end
vim.lsp.stop_client(clients())
wait(stopped)
say("server stopped", stopped())
vim.cmd("qall!")
