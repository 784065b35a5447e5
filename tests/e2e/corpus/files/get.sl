% SPDX-License-Identifier: MIT
% Prints what a URL gives, whatever its status is, by S-Lang's curl module.
require ("curl");

curl_perform (curl_new (__argv[1]));
