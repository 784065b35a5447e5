# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Words to the user: colour only on a terminal.

if [[ -t 1 && -z ${NO_COLOR:-} ]]; then
    GREEN=$'\e[32m' RED=$'\e[31m' BOLD=$'\e[1m' DIM=$'\e[2m' PLAIN=$'\e[0m'
else
    GREEN='' RED='' BOLD='' DIM='' PLAIN=''
fi
export GREEN RED BOLD DIM PLAIN

say() {
    printf '%s\n' "$*"
}

die() {
    printf '%s: %s\n' "${0##*/}" "$*" >&2
    exit 1
}

# Seconds since the epoch, in microseconds, without starting a process.
now_us() {
    local now=${EPOCHREALTIME/[.,]/}
    printf '%s' "$now"
}
