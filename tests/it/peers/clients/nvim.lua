-- Run by Neovim with a broken template open: says what it shows, mends it as a person would, says what is left.

-- Past this time nothing is waited for: what is there then is reported.
local PATIENCE = 60000

local function covered(found)
  local lines = vim.api.nvim_buf_get_text(0, found.lnum, found.col, found.end_lnum, found.end_col, {})
  return table.concat(lines, '\n')
end

local function shown()
  local all = {}
  for _, found in ipairs(vim.diagnostic.get(0)) do
    local code = found.code or found.user_data.lsp.code
    table.insert(all, { code = code, covers = covered(found), message = found.message })
  end
  return all
end

local function drive()
  local report = { taken = vim.env.CTXC_TAKEN }
  vim.wait(PATIENCE, function() return #vim.diagnostic.get(0) > 0 end, 20)
  report.seen = shown()
  -- The first way out, chosen from the list that a person would see.
  vim.ui.select = function(items, _, choose) choose(items[1], 1) end
  local place = vim.diagnostic.get(0)[1]
  if place then
    vim.api.nvim_win_set_cursor(0, { place.lnum + 1, place.col })
    vim.lsp.buf.code_action()
    vim.wait(PATIENCE, function() return vim.bo.modified and #vim.diagnostic.get(0) == 0 end, 20)
  end
  report.left = shown()
  report.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, true), '\n') .. '\n'
  return report
end

local well, report = pcall(drive)
if not well then
  io.stderr:write(tostring(report) .. '\n')
  vim.cmd('cquit')
end
vim.fn.writefile({ vim.fn.json_encode(report) }, vim.env.CTXC_REPORT)
vim.cmd('qall!')
