# shellcheck shell=bash
# SPDX-License-Identifier: MIT
# An older release's dash and curl, with the C library that they are made for, and what is needed to compile for it: tests
# start what brings a C library of its own.

OLDER_SUITE=bullseye
OLDER_PACKAGES=(dash curl libc6-dev libcurl4-openssl-dev)

# The archive that this machine has its own release from.
older_archive() {
    # shellcheck disable=SC2016 # apt-get's own variables
    apt-get indextargets --format '$(SITE) $(ORIGIN) $(CODENAME)' 'Created-By: Packages' 2>/dev/null |
        awk -v codename="$(. /etc/os-release && echo "${VERSION_CODENAME:-}")" '$2 == "Debian" && $3 == codename { print $1; exit }'
}

# older_apt DIRECTORY ARGUMENT...: apt-get with all that it keeps below DIRECTORY, where nothing is installed.
older_apt() {
    local directory=$1
    shift
    apt-get -qq -o "Dir::State=$directory/state" -o "Dir::State::status=$directory/status" -o "Dir::Cache=$directory/cache" \
        -o "Dir::Etc::SourceList=$directory/sources.list" -o Dir::Etc::SourceParts=/dev/null -o Dir::Log=/dev/null \
        -o APT::Sandbox::User= "$@" </dev/null
}

older_fetch() { # DIRECTORY
    local directory=$1 archive package
    archive=$(older_archive)
    [[ -n $archive ]] || { echo "older.sh: apt-get doesn't say where this release is from" >&2; return 1; }
    mkdir -p "$directory"/{state/lists/partial,cache/archives/partial,root} || return
    : >"$directory/status"
    echo "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] $archive $OLDER_SUITE main" >"$directory/sources.list"
    older_apt "$directory" update || return
    older_apt "$directory" install --download-only -y --no-install-recommends "${OLDER_PACKAGES[@]}" || return
    for package in "$directory"/cache/archives/*.deb; do
        dpkg-deb -x "$package" "$directory/root" || return
    done
    # By its absolute name the linker would be the machine's own.
    ln -sfn "..$(readlink "$directory"/root/lib64/ld-linux-x86-64.so.2)" "$directory/root/lib64/ld-linux-x86-64.so.2"
}

# older_release ROOT: unpacks the packages to ROOT if that isn't there yet. Needs no root rights.
older_release() {
    local directory status=0
    [[ ! -d $1 ]] || return 0
    directory=$(mktemp -d) || return
    mkdir -p "${1%/*}" && older_fetch "$directory" && mv "$directory/root" "$1" || status=1
    rm -rf "$directory"
    return "$status"
}
