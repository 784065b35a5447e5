// SPDX-License-Identifier: MIT

/// A GET by D's standard library, which finds libcurl by dlopen and dlsym: fetch-d URL
import std.net.curl;
import std.stdio;

void main(string[] arguments)
{
    try
        writeln("body ", get(arguments[1]));
    catch (CurlException failure)
        writeln("failed");
}
