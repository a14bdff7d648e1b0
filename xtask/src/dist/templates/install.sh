#!/bin/sh
# Install flakeproof VERSION for this user: download the program for this platform, check it, unpack it.
#
#   FLAKEPROOF_INSTALL   the folder for the program (~/.local/bin)
#   FLAKEPROOF_DOWNLOAD  where the archives are, for a mirror: an address, or file:///a/folder
#
# A proxy is taken from https_proxy, as curl and wget do. Nothing is changed outside the folder.
set -eu

version='VERSION'
address="${FLAKEPROOF_DOWNLOAD:-ADDRESS}"
folder="${FLAKEPROOF_INSTALL:-${HOME:-}/.local/bin}"

fail() { # fail WHAT NEXT
    printf 'flakeproof: %s\nnext: %s\n' "$1" "$2" >&2
    exit 1
}

has() { command -v "$1" >/dev/null 2>&1; }

platform() { # the archive that runs here; the programs for Linux need no library at all
    case "$(uname -s) $(uname -m)" in
        'Linux x86_64' | 'Linux amd64') echo x86_64-unknown-linux-musl ;;
        'Linux aarch64' | 'Linux arm64') echo aarch64-unknown-linux-musl ;;
        'Darwin x86_64') echo x86_64-apple-darwin ;;
        'Darwin arm64') echo aarch64-apple-darwin ;;
        *) fail "there is no program for $(uname -s) on $(uname -m) yet" \
            'build it with a Rust toolchain: cargo install --path crates/flakeproof, in the sources' ;;
    esac
}

download() { # download NAME FILE
    if has curl; then
        curl --proto '=https,file' --fail --silent --show-error --location --retry 3 "$address/$1" -o "$2"
    elif has wget; then
        wget -q "$address/$1" -O "$2"
    else
        fail 'neither curl nor wget is here' 'install one of them, then run this again'
    fi || fail "$address/$1 cannot be downloaded" \
        'check the network, and https_proxy if you are behind a proxy; for a mirror, set FLAKEPROOF_DOWNLOAD'
}

sum_of() { # the SHA-256 of a file
    if has sha256sum; then
        sha256sum "$1"
    elif has shasum; then
        shasum -a 256 "$1"
    else
        fail 'neither sha256sum nor shasum is here' 'install coreutils, then run this again'
    fi | cut -d ' ' -f 1
}

main() {
    [ "$folder" != /.local/bin ] || fail 'HOME is not set' 'name a folder in FLAKEPROOF_INSTALL'
    has tar || fail 'tar is not here' 'install tar, then run this again'
    has gzip || fail 'gzip is not here' 'install gzip, then run this again'
    name="flakeproof-$version-$(platform)"
    mkdir -p "$folder" 2>/dev/null && [ -w "$folder" ] ||
        fail "$folder cannot be written to" 'name a folder that you may write to in FLAKEPROOF_INSTALL'
    work=$(mktemp -d "$folder/.flakeproof-XXXXXX") ||
        fail "$folder has no room" 'make room, or name another folder in FLAKEPROOF_INSTALL'
    trap 'rm -rf "$work"' EXIT
    trap 'exit 130' INT TERM
    download "$name.tar.gz" "$work/archive"
    download SHA256SUMS "$work/sums"
    wanted=$(awk -v name="$name.tar.gz" '$2 == name { print $1 }' "$work/sums")
    [ -n "$wanted" ] || fail "SHA256SUMS does not name $name.tar.gz" 'report this: the release is incomplete'
    [ "$(sum_of "$work/archive")" = "$wanted" ] ||
        fail "$name.tar.gz is not what was released: the download is incomplete or was changed" \
            'run this again; if it stays so, do not use the file, and report it'
    tar -xzf "$work/archive" -C "$work" || fail "$name.tar.gz cannot be unpacked" 'make room, then run this again'
    "$work/$name/flakeproof" --version >/dev/null 2>&1 ||
        fail 'the program does not run here' "run $folder's file system without noexec, or name another folder in FLAKEPROOF_INSTALL"
    # In one step, so that nobody ever finds half of it.
    mv -f "$work/$name/flakeproof" "$folder/flakeproof"
    echo "flakeproof $version is in $folder"
    other=$(command -v flakeproof || true)
    case "$other" in
        "$folder/flakeproof") ;;
        '') echo "next: put it on your path: export PATH=\"$folder:\$PATH\"" ;;
        *) echo "next: $other comes first on your path: remove it, or put $folder before it" ;;
    esac
}

main
