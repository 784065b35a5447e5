-- SPDX-License-Identifier: MIT
-- Prints what a URL gives. The exit status is libcurl's.
require "curl"
local handle = curl.easy_init()
handle:setopt(curl.OPT_URL, arg[1])
handle:setopt(curl.OPT_FAILONERROR, 1)
os.exit(handle:perform())
