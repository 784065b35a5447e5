<?php
// SPDX-License-Identifier: MIT
// Prints what a URL gives, by curl_multi_exec. The exit status is libcurl's.
$handle = curl_init($argv[1]);
curl_setopt($handle, CURLOPT_FAILONERROR, true);
$multi = curl_multi_init();
curl_multi_add_handle($multi, $handle);
do {
    curl_multi_exec($multi, $running);
    curl_multi_select($multi);
} while ($running);
exit(curl_multi_info_read($multi)["result"]);
