# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# What ./run and ./test share: Debian's packages, and building in a folder of its own. To be sourced.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

to_build=(autoconf automake gcc libc6-dev make pkgconf libcurl4-openssl-dev libinih-dev libjansson-dev libmicrohttpd-dev
	libsodium-dev libsqlite3-dev libssl-dev libzip-dev libzstd-dev zlib1g-dev)
to_demo=(python3-pip-whl python3-setuptools-whl python3-venv python3-wheel-whl)
to_test=(clang libcmocka-dev mandoc openssl python3-packaging python3-pytest python3-venv xz-utils)
to_see=(apache2-bin chromium strace zstd) # what a browser and web servers do, what the program asks of the system

# nginx begins to serve once it is installed: only where nothing starts services by itself, as in a container.
[ -d /run/systemd/system ] || to_see+=(nginx)

say() {
	printf '%s\n' "== $*" >&2
}

# Those of the packages that are not installed, a line each.
missing_packages() {
	comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p' | sort -u) <(printf '%s\n' "$@" | sort -u)
}

# as_root COMMAND…
as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

apt_get() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -y --no-install-recommends "$@" </dev/null >/dev/null
}

# Installs what is missing; with nothing missing it needs neither root nor a network.
install_packages() {
	local packages
	if ! command -v dpkg-query >/dev/null; then
		say "no Debian here: make sure that you have what these packages hold: $*"
		return
	fi
	mapfile -t packages < <(missing_packages "$@")
	[ ${#packages[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		say "missing; please run as root: apt-get install ${packages[*]}"
		return 1
	fi
	say "installing ${packages[*]}"
	apt_get install "${packages[@]}" 2>/dev/null && return
	say "apt-get update, then again"
	apt_get update && apt_get install "${packages[@]}"
}

# build FOLDER [CONFIGURE-ARGUMENT…]: the program, in a folder below the top. Make itself runs autoreconf and
# configure again where their input has changed.
build() {
	local folder=$top/$1
	shift
	if [ ! -x "$top/configure" ]; then
		say "autoreconf"
		(cd "$top" && autoreconf -fi >/dev/null 2>&1) || (cd "$top" && autoreconf -fi) || return
	fi
	mkdir -p "$folder"
	if [ ! -f "$folder/Makefile" ]; then
		say "configure"
		(cd "$folder" && "$top/configure" -q "$@" >/dev/null) || return
	fi
	make -s -C "$folder" -j "$(nproc)" >&2
}
