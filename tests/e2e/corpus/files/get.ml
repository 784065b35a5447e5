(* SPDX-License-Identifier: MIT *)
(* Prints what a URL gives. *)
let () =
  Curl.global_init Curl.CURLINIT_GLOBALALL;
  let handle = Curl.init () in
  Curl.set_url handle Sys.argv.(1);
  Curl.set_failonerror handle true;
  Curl.perform handle
