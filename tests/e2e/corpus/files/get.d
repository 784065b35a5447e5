// SPDX-License-Identifier: MIT
// Prints what a URL gives, by std.net.curl.
module fetch;

import std.net.curl, std.stdio;

void main(string[] arguments)
{
    write(get(arguments[1]));
}
