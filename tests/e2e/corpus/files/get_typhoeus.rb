# SPDX-License-Identifier: MIT
# Prints what a URL gives, by Typhoeus (FFI).
require "typhoeus"

response = Typhoeus.get(ARGV[0])
print response.body
exit(response.code == 200)
