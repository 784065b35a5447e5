# SPDX-License-Identifier: MIT
# Prints what a URL gives, by curb.
require "curb"

curl = Curl::Easy.new(ARGV[0])
curl.perform
print curl.body_str
exit(curl.response_code == 200)
