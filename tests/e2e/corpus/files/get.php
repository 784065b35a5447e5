<?php
// SPDX-License-Identifier: MIT
// Prints what a URL gives, by curl_exec. The exit status is libcurl's.
$handle = curl_init($argv[1]);
curl_setopt($handle, CURLOPT_FAILONERROR, true);
curl_exec($handle);
exit(curl_errno($handle));
