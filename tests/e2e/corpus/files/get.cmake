# SPDX-License-Identifier: MIT
# Prints what a URL gives.
file(DOWNLOAD "${URL}" "${TO}" STATUS status)
list(GET status 0 code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${status}")
endif()
file(READ "${TO}" body)
message("${body}")
