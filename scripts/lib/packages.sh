# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# Installs what a script needs through apt. packages.txt says what and why.

PACKAGES_FILE=${BASH_SOURCE[0]%/*}/packages.txt
POLICY_RC=/usr/sbin/policy-rc.d

is_installed() {
    [[ $(dpkg-query -W -f='${db:Status-Status}' "$1" 2>/dev/null) == installed ]]
}

# Prints "package service reason" of each package of the groups that isn't installed.
list_missing() {
    local group package service reason
    while read -r group package service reason; do
        [[ -z $group || $group == '#'* || " $* " != *" $group "* ]] && continue
        is_installed "$package" || printf '%s %s %s\n' "$package" "$service" "$reason"
    done <"$PACKAGES_FILE"
}

# Runs a command as root. Without a terminal nobody could type a password.
as_root() {
    if [[ $(id -u) == 0 ]]; then
        "$@"
    elif [[ -t 0 ]]; then
        sudo "$@"
    else
        sudo -n "$@"
    fi
}

ask_before_installing() {
    local package service reason answer
    [[ $(id -u) == 0 || ! -t 0 || ! -t 1 ]] && return
    say "These packages are missing:"
    while read -r package service reason; do
        printf '  %-26s %s\n' "$package" "$reason"
    done <<<"$1"
    read -r -p "Install them with apt-get (sudo)? [y/N] " answer
    [[ $answer == [yY]* ]] || die "not without these packages"
}

# Servers among the packages shall not start: the tests start their own, on ports of their own.
forbid_service_start() {
    [[ -e $POLICY_RC ]] && return
    trap allow_service_start EXIT
    as_root sh -c "printf '#!/bin/sh\nexit 101\n' >$POLICY_RC && chmod 755 $POLICY_RC"
}

allow_service_start() {
    as_root rm -f "$POLICY_RC"
    trap - EXIT
}

apt_install() {
    as_root env DEBIAN_FRONTEND=noninteractive NEEDRESTART_SUSPEND=1 \
        apt-get install -q -y --no-install-recommends "$@" </dev/null
}

# The lists of a fresh machine are empty, and those of an old one name versions that are gone.
install_or_update_first() {
    if apt-cache show --no-all-versions "$@" >/dev/null 2>&1 && apt_install "$@"; then
        return 0
    fi
    as_root apt-get update -q && apt_install "$@"
}

# Nor shall they start at the next boot.
disable_services() {
    local package service reason
    command -v systemctl >/dev/null && [[ -d /run/systemd/system ]] || return 0
    while read -r package service reason; do
        [[ $service == - ]] || as_root systemctl --quiet disable "$service" || :
    done <<<"$1"
}

# install_missing GROUP...: does nothing if all is there.
install_missing() {
    local missing names
    if ! command -v dpkg-query >/dev/null || ! command -v apt-get >/dev/null; then
        die "this installs Debian packages; elsewhere, install what $PACKAGES_FILE lists and run make check"
    fi
    missing=$(list_missing "$@")
    [[ -n $missing ]] || return 0
    mapfile -t names < <(cut -d' ' -f1 <<<"$missing")
    ask_before_installing "$missing"
    say "Installing: ${names[*]}"
    forbid_service_start
    install_or_update_first "${names[@]}" || die "apt-get failed"
    allow_service_start
    disable_services "$missing"
}
