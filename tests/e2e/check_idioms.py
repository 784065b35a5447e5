# SPDX-License-Identifier: MIT
"""
How scripts start curl: the idioms that `tenacurl check` reads (M-06), with what it is to say from the files alone.

Each row: the script (U is a URL; files of the directory: see FILES), the expected answer, and what the run shows if that
isn't the same: "covered", "not" (nothing is wrapped, or no transfer is made); None: it isn't run, since that needs another
host, a container or rights. A shell reads the script, unless the row names another program.

What can't be told is "unknown". Never may a script be "not" whose run is covered.
"""

FILES = {
    "fetch.sh": "#!/bin/sh\nexec curl -s \"$1\"\n",
    "lib.sh": "fetch() { curl -s \"$1\"; }\n",
    "bin/get": "#!/bin/sh\ncurl -s \"$1\"\n",
    "urls": "U\n",
    "Makefile": "CURL ?= curl\nall:\n\t@$(CURL) -s U\nquiet:\n\t@-curl -s U\nnothing:\n\t@true\n",
    "other.mk": "all: ; @curl -s U\n",
    "job.py": "import subprocess\nsubprocess.run([\"curl\", \"-s\", \"U\"])\n",
    "job.pl": "system('curl -s U');\n",
    "job.awk": "BEGIN { system(\"curl -s U\") }\n",
}

IDIOMS = [
    # Plain commands.
    ("curl -s U", "covered"),
    ("/usr/bin/curl -s U", "covered"),
    ("\\curl -s U", "covered"),
    ("command curl -s U", "covered"),
    ("exec curl -s U", "covered"),
    ("eval 'curl -s U'", "covered"),
    ("eval \"curl -s $X U\"", "covered"),
    ("builtin true 2>/dev/null; curl -s U", "covered"),
    ("if curl -s U; then :; fi", "covered"),
    ("if ! curl -s U; then exit 1; fi", "covered"),
    ("while ! curl -s U; do break; done", "covered"),
    ("for i in 1 2; do curl -s U; done", "covered"),
    ("case x in x) curl -s U ;; esac", "covered"),
    ("true && curl -s U || exit 1", "covered"),
    ("{ curl -s U; }", "covered"),
    ("(curl -s U)", "covered"),
    ("curl -s U | cat", "covered"),
    ("echo x | curl -s -d @- U", "covered"),
    ("x=$(curl -s U)", "covered"),
    ("x=`curl -s U`", "covered"),
    ("x=\"$(curl -s \"U\")\"", "covered"),
    ("cat <<END\n$(curl -s U)\nEND", "covered"),
    ("curl \\\n  -s \\\n  U", "covered"),
    ("curl -s U & wait", "covered"),
    ("trap 'curl -s U' EXIT", "covered"),
    ("A=1 B=2 curl -s U", "covered"),
    (">out curl -s U", "covered"),
    # The name comes from somewhere else.
    ("CURL=${CURL:-curl}; \"$CURL\" -s U", "covered"),
    ("CURL=curl; $CURL -s U", "covered"),
    (": ${CURL=/usr/bin/curl}; $CURL -s U", "covered"),
    ("CURL=\"curl -s\"; $CURL U", "covered"),
    ("CURL=$(command -v curl); \"$CURL\" -s U", "covered"),
    ("$(command -v curl) -s U", "covered"),
    ("`which curl` -s U", "covered"),
    ("set -- curl -s U; \"$@\"", "covered"),
    ("retry() { \"$@\"; }; retry curl -s U", "covered"),
    ("retry() { n=0; until \"$@\"; do n=$((n + 1)); [ $n -ge 3 ] && return 1; done; }; retry curl -s U", "covered"),
    ("curl() { command curl -s \"$@\"; }; curl U", "covered"),
    ("alias c='curl -s'; curl -s U", "covered"),
    ("get=curl; run() { $1 -s U; }; run $get", "covered"),
    # Other programs start it.
    ("find urls -exec curl -s U \\;", "covered"),
    ("find . -name urls -exec sh -c 'curl -s U' {} +", "covered"),
    ("xargs curl -s <urls", "covered"),
    ("xargs -n 1 -P 2 curl -s <urls", "covered"),
    ("xargs -I{} sh -c 'curl -s \"{}\"' <urls", "covered"),
    ("timeout 5 curl -s U", "covered"),
    ("timeout -k 1 5 nice -n 5 curl -s U", "covered"),
    ("env A=1 curl -s U", "covered"),
    ("nohup curl -s U >out", "covered"),
    ("flock lock -c 'curl -s U'", "covered"),
    ("sh -c 'curl -s U'", "covered"),
    ("bash -euo pipefail -c 'curl -s U'", "covered"),
    ("sh <<END\ncurl -s U\nEND", "covered"),
    ("awk 'BEGIN { system(\"curl -s U\") }'", "covered"),
    ("awk -f job.awk", "covered"),
    ("make -s", "covered"),
    ("make -s quiet", "covered"),
    ("make -s -f other.mk", "covered"),
    ("/usr/bin/python3 job.py", "covered"),
    ("/usr/bin/python3 -c 'import os; os.system(\"curl -s U\")'", "covered"),
    ("perl job.pl", "covered"),
    # Other scripts.
    ("./fetch.sh U", "covered"),
    ("sh fetch.sh U", "covered"),
    (". ./lib.sh; fetch U", "covered"),
    ("HERE=$(dirname \"$0\"); . \"$HERE/lib.sh\"; fetch U", "covered"),
    ("HERE=$(cd \"$(dirname \"$0\")\" && pwd); \"$HERE/bin/get\" U", "covered"),
    ("\"${0%/*}/fetch.sh\" U", "covered"),
    # Spoken of, or never reached: more is found than happens.
    ("echo curl -s U", "covered", "not"),
    ("false && curl -s U", "covered", "not"),
    # What files don't tell.
    ("c=cu; c=${c}rl; $c -s U", "unknown", "covered"),
    ("$(printf '\\143url') -s U", "unknown", "covered"),
    ("true", "unknown", "not"),
    ("# curl -s U", "unknown", "not"),
    ("make -s nothing", "covered", "not"),
    # Out of reach.
    ("curl -Z -s U", "not", "not"),
    ("curl -s U; curl -Z -s U", "partly", "partly"),
    ("env -i curl -s U", "not", "not"),
    ("env -i PATH=/usr/bin sh -c 'true; curl -s U'", "not", "not"),
    ("env - curl -s U; curl -s U", "partly", None),
    ("sudo curl -s U", "not", None),
    ("sudo -u www-data sh -c 'cd /; curl -s U'", "not", None),
    ("echo a; su - deploy -c 'curl -s U'", "not", None),
    ("ssh host curl -s U", "not", None),
    ("ssh host 'cd /x && curl -s U'", "not", None),
    ("docker run --rm image curl -s U", "not", None),
    ("chroot /srv/root curl -s U", "not", None),
    ("sudo tenacurl run -- curl -s U", "covered", None),
    ("LD_PRELOAD= curl -s U", "unknown", "not"),
    ("unset LD_PRELOAD; curl -s U", "unknown", "not"),
]

# Without a shell before them.
COMMANDS = [
    (["find", "urls", "-exec", "curl", "-s", "U", ";"], "covered"),
    (["xargs", "-a", "urls", "curl", "-s"], "covered"),
    (["make", "-s"], "covered"),
    (["make", "-s", "-f", "other.mk"], "covered"),
    (["make", "-s", "-C", "."], "covered"),
    (["awk", "BEGIN { system(\"curl -s U\") }"], "covered"),
    (["/usr/bin/python3", "job.py"], "covered"),
    (["perl", "-e", "system('curl -s U')"], "covered"),
    (["perl", "-e", "exec qw(curl -s U)"], "unknown", "covered"),
    (["bash", "-c", "curl -s U"], "covered"),
    (["./fetch.sh", "U"], "covered"),
    (["timeout", "5", "./fetch.sh", "U"], "covered"),
    (["true"], "unknown", "not"),
]
