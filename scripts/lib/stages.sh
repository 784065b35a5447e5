# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Runs the stages of scripts/check, each a function stage_NAME, and counts the tests in their output.

PASSED=0 FAILED=0
# A stage that takes longer than this has a line that tells how far it is, on a terminal.
LIVE_AFTER_S=${LIVE_AFTER_S:-10}

# sum_matches FILE PATTERN: the sum of the numbers that the pattern's group matches (sed -E), on lines of their own.
sum_matches() {
    sed -nE "s/$2/\1/p" "$1" | awk '{ sum += $1 } END { print sum + 0 }'
}

# cmocka says "[  PASSED  ] 3 test(s)."; pytest ends with "3 passed, 1 failed, 1 error in 2.50s".
count_passed() {
    echo $(($(sum_matches "$1" '^\[  PASSED  \] ([0-9]+) test\(s\)\..*') + \
        $(sum_matches "$1" '^.*\b([0-9]+) passed.* in [0-9.]+s.*$')))
}

count_failed() {
    echo $(($(sum_matches "$1" '^\[  FAILED  \] ([0-9]+) test\(s\), listed below:.*') + \
        $(sum_matches "$1" '^.*\b([0-9]+) failed.* in [0-9.]+s.*$') + \
        $(sum_matches "$1" '^.*\b([0-9]+) errors? in [0-9.]+s.*$')))
}

# Tests that have ended so far: "[       OK ] name" lines of cmocka, characters of pytest's lines of progress.
count_ended() {
    awk '/^\[ +(OK|FAILED) +\] [a-z]/ { ended++ }
        /^[.sxXFE]+( *\[ *[0-9]+%\])?$/ { sub(/ *\[.*/, ""); ended += length($0) }
        END { print ended + 0 }' "$1" 2>/dev/null
}

# show_progress NAME LOG: a line that is written over, until it is ended or this script is.
show_progress() {
    local name=$1 log=$2 began=$SECONDS ended never
    # What never says anything is waited for instead of a sleep(1), which would outlive this.
    exec {never}<> <(:)
    read -rt "$LIVE_AFTER_S" -u "$never"
    while kill -0 $$ 2>/dev/null; do
        ended=$(count_ended "$log")
        printf '\r%-16s %s%d s%s%s' "$name" "$DIM" $((SECONDS - began)) "$( ((ended == 0)) || echo ", $ended tests")" "$PLAIN"
        read -rt 1 -u "$never"
    done
}

# with_progress NAME LOG COMMAND: runs it with its output in LOG.
with_progress() {
    local name=$1 log=$2 progress status
    if [[ ! -t 1 ]]; then
        "$3" >"$log" 2>&1
        return
    fi
    show_progress "$name" "$log" &
    progress=$!
    "$3" >"$log" 2>&1
    status=$?
    kill "$progress"
    wait "$progress" 2>/dev/null
    printf '\r\e[K%-16s ' "$name"
    return "$status"
}

# What a suite has to say of itself, on lines that begin with "# ".
print_notes() {
    [[ ! -f $LOGS/e2e.log ]] || sed -n 's/^# //p' "$LOGS/e2e.log"
}

print_result() {
    say
    print_notes
    say "$PASSED passed, $FAILED failed"
}

# Shows why a stage failed and ends the script.
give_up() {
    local name=$1 log=$2
    say "--- the end of $log"
    tail -n 60 "$log"
    say "--- stage $name failed; its whole log is $log"
    print_result
    exit 1
}

run_stage() {
    local name=$1 log=$LOGS/$1.log began=$SECONDS status passed failed
    printf '%-16s ' "$name"
    with_progress "$name" "$log" "stage_$name"
    status=$?
    passed=$(count_passed "$log")
    failed=$(count_failed "$log")
    ((status != 0 && failed == 0)) && failed=1
    ((status == 0 && passed == 0)) && passed=1
    PASSED=$((PASSED + passed)) FAILED=$((FAILED + failed))
    if ((status != 0)); then
        say "${RED}failed${PLAIN} after $((SECONDS - began)) s"
        give_up "$name" "$log"
    fi
    say "${GREEN}ok${PLAIN} $((SECONDS - began)) s"
}

# run_stages NAME...
run_stages() {
    for name in "$@"; do
        # It may ask the user something, so its output isn't hidden; nor is it a test.
        if [[ $name == packages ]]; then
            stage_packages || die "$name failed"
        else
            run_stage "$name"
        fi
    done
    print_result
}
