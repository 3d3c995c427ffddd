#!/bin/sh
# Installs sma from a release, after checking its checksum.
#
#   install.sh [VERSION]
#
# SMA_BIN is the folder for the program (default: /usr/local/bin for root, else ~/.local/bin), SMA_URL the address of
# the releases, or a folder with the files of one.
set -eu

say() { printf '%s\n' "$*" >&2; }
fail() {
	say "install.sh: $*"
	exit 1
}

url=${SMA_URL:-https://github.com/shipmyagent/shipmyagent/releases}
version=${1:-}

case $(uname -s) in
Linux) os=linux ;;
Darwin) os=darwin ;;
*) fail "there is no sma for $(uname -s)" ;;
esac
case $(uname -m) in
x86_64 | amd64) arch=amd64 ;;
aarch64 | arm64) arch=arm64 ;;
*) fail "there is no sma for $(uname -m)" ;;
esac

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
trap 'exit 1' HUP INT TERM

# fetch NAME gets a file of the release.
fetch() {
	if [ -d "$url" ]; then
		cp "$url/$1" "$work/$1"
		return
	fi
	from=$url/latest/download/$1
	[ -z "$version" ] || from=$url/download/v$version/$1
	if command -v curl >/dev/null 2>&1; then
		curl -fsSL --proto-redir =https -o "$work/$1" "$from"
	elif command -v wget >/dev/null 2>&1; then
		wget -qO "$work/$1" "$from"
	else
		fail "neither curl nor wget is installed"
	fi
}

if command -v sha256sum >/dev/null 2>&1; then
	sum() { sha256sum "$1"; }
elif command -v shasum >/dev/null 2>&1; then
	sum() { shasum -a 256 "$1"; }
else
	fail "neither sha256sum nor shasum is installed"
fi

fetch checksums.txt || fail "the checksums cannot be fetched from $url"
wanted=$(sed -n "s/^\([0-9a-f]\{64\}\)  \(sma_[^ /]*_${os}_$arch\.tar\.gz\)\$/\1 \2/p" "$work/checksums.txt")
name=${wanted#* }
if [ -z "$wanted" ] || [ "$(printf '%s\n' "$wanted" | wc -l)" -ne 1 ]; then
	fail "the release has not one archive for $os on $arch"
fi
say "fetching $name"
fetch "$name" || fail "$name cannot be fetched from $url"
got=$(sum "$work/$name")
[ "${got%% *}" = "${wanted%% *}" ] || fail "$name has the wrong checksum; nothing was installed"

tar -xzf "$work/$name" -C "$work"
bin=${SMA_BIN:-}
if [ -z "$bin" ]; then
	bin=$HOME/.local/bin
	[ "$(id -u)" -ne 0 ] || bin=/usr/local/bin
fi
mkdir -p "$bin"
# A rename replaces a program that is running.
cp "$work/${name%.tar.gz}/sma" "$bin/.sma.new"
chmod 755 "$bin/.sma.new"
mv -f "$bin/.sma.new" "$bin/sma"
say "installed $("$bin/sma" version) as $bin/sma"
case :$PATH: in
*":$bin:"*) ;;
*) say "$bin is not in your PATH" ;;
esac
