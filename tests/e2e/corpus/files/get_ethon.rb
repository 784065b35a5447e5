# SPDX-License-Identifier: MIT
# Prints what a URL gives, by Ethon (FFI).
require "ethon"

easy = Ethon::Easy.new(url: ARGV[0], failonerror: true)
done = easy.perform
print easy.response_body
exit(done == :ok)
