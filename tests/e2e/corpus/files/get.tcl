# SPDX-License-Identifier: MIT
# Prints what a URL gives. The exit status is libcurl's.
package require TclCurl
set handle [curl::init]
$handle configure -url [lindex $argv 0] -failonerror 1
if {[catch {$handle perform} code]} {
    exit $code
}
