# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash disable=SC2034
# Functions that ./run and ./test share: they install Debian's packages and build in separate folders. Source this file.

top=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

to_build=(autoconf automake ca-certificates gcc libc6-dev make pkgconf libcmark-gfm-dev
	libcmark-gfm-extensions-dev libcurl4-openssl-dev libdeflate-dev
	libelf-dev libjansson-dev libmicrohttpd-dev libsqlite3-dev libssl-dev libxml2-dev libzip-dev libzstd-dev
	zlib1g-dev)
[[ $(uname -m) =~ ^(x86_64|aarch64)$ ]] && to_build+=(libisal-dev) # Debian has it for these
to_demo=(python3-pip-whl python3-setuptools-whl python3-venv python3-wheel-whl)
to_test=(ccache clang curl libcmocka-dev lld mandoc openssl python3-dev python3-docutils python3-jsonschema python3-packaging python3-pytest
	python3-pytest-xdist python3-venv python3-yaml xz-utils)
to_see=(apache2-bin chromium fish strace valgrind zsh zstd) # tests with a browser, shells and web servers, and of the
# program's inside
to_wrap=(bubblewrap buildah mmdebstrap) # tests in roots of two Debians: of etc/build-bwrap and etc/Containerfile
to_pack=(binutils build-essential debhelper dpkg-dev lintian mmdebstrap rpm rpmlint systemd-container) # tests of packages
to_audit=(gcc-aarch64-linux-gnu musl-tools qemu-user) # tests of foreign ELF files and processors
to_afs=(bc iproute2 openafs-client openafs-dbserver openafs-fileserver openafs-fuse openafs-krb5 util-linux)

# The package of nginx starts the server. nginx is installed only where no service starts by itself, as in a container.
[ -d /run/systemd/system ] || to_see+=(nginx)

say() {
	printf '%s\n' "== $*" >&2
}

# missing_packages PACKAGE…: prints those that are not installed, one per line.
missing_packages() {
	comm -13 <(dpkg-query -W -f '${db:Status-Status} ${Package}\n' "$@" 2>/dev/null |
		sed -n 's/^installed //p' | sort -u) <(printf '%s\n' "$@" | sort -u)
}

# as_root COMMAND…: runs it as root, with sudo if necessary.
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

# install_packages PACKAGE…: installs those that are missing. If none is missing, it needs neither root nor a network.
install_packages() {
	local packages
	if ! command -v dpkg-query >/dev/null; then
		say "this is not Debian: make sure that you have the contents of these packages: $*"
		return
	fi
	mapfile -t packages < <(missing_packages "$@")
	[ ${#packages[@]} -gt 0 ] || return 0
	if [ "$(id -u)" != 0 ] && ! command -v sudo >/dev/null; then
		say "packages are missing; run as root: apt-get install ${packages[*]}"
		return 1
	fi
	say "installing ${packages[*]}"
	apt_get install "${packages[@]}" 2>/dev/null && return
	say "running apt-get update, then installing again"
	apt_get update && apt_get install "${packages[@]}"
}

# Installs the packages of an AFS cell. A cell needs root and /dev/fuse: without them nothing is installed. No service
# is started, neither now nor when the machine starts.
install_afs() {
	local policy=/usr/sbin/policy-rc.d packages result=0
	[ "$(id -u)" = 0 ] && [ -c /dev/fuse ] && command -v debconf-set-selections >/dev/null || return 0
	mapfile -t packages < <(missing_packages "${to_afs[@]}")
	[ ${#packages[@]} -gt 0 ] || return 0
	printf '%s\n' "openafs-client openafs-client/thiscell string test.cell" \
		"openafs-client openafs-client/cachesize string 100000" \
		"openafs-client openafs-client/run-client boolean false" \
		"openafs-client openafs-client/afsdb boolean false" \
		"openafs-fileserver openafs-fileserver/thiscell string test.cell" | debconf-set-selections
	if [ -e "$policy" ]; then
		policy=
	else
		printf '#!/bin/sh\nexit 101\n' >"$policy"
		chmod 755 "$policy"
	fi
	install_packages "${packages[@]}" || result=1
	[ -z "$policy" ] || rm -f "$policy"
	return $result
}

# debian_sources SUITE: prints the lines of a sources.list for a release of Debian: the archives from which this machine's
# apt gets its own release, for the suite.
debian_sources() {
	local suite=$1 own release uri
	# shellcheck source=/dev/null
	own=$(. /etc/os-release && printf '%s' "${VERSION_CODENAME:-}")
	# shellcheck disable=SC2016
	apt-get indextargets --format '$(RELEASE) $(REPO_URI)' 'Created-By: Packages' | sort -u |
		while read -r release uri; do
			case $release in
			"$own" | "$own-updates" | "$own-security") printf 'deb %s %s main\n' "$uri" "$suite${release#"$own"}" ;;
			esac
		done
}

# make_root SUITE TARGET [OPTION…]: makes a root of a release of Debian with mmdebstrap: a folder or, by its name, an
# archive. apt has this machine's settings of networks in it: proxies, certificates, time-outs, checks. OPTION is of
# mmdebstrap.
make_root() {
	local suite=$1 target=$2 sources settings result=0
	shift 2
	sources=$(debian_sources "$suite")
	[ -n "$sources" ] || { say "apt names no archive of Debian" && return 1; }
	settings=$(mktemp)
	apt-config dump --no-empty --format '%F "%v";%n' Acquire |
		grep -v '^Acquire::\(IndexTargets\|Changelogs\|cdrom\)' >"$settings"
	mmdebstrap --quiet --aptopt="$settings" "$@" "$suite" "$target" - <<<"$sources" || result=$?
	rm -f "$settings"
	return $result
}

# ccache finds what another clone compiled.
export CCACHE_BASEDIR=$top CCACHE_NOHASHDIR=1

# compiler NAME: prints the command that configure uses as the compiler. ccache is used if it is installed.
compiler() {
	if command -v ccache >/dev/null; then
		printf 'ccache %s' "$1"
	else
		printf '%s' "$1"
	fi
}

# quick_flags: sets flags to configure's arguments for a program that is built to be tested and not kept: with few
# optimisations, and linked by lld where it is installed, because three hundred programs of tests are linked.
quick_flags() {
	flags=("CFLAGS=-g1 -O1")
	! command -v ld.lld >/dev/null || flags+=("LDFLAGS=-fuse-ld=lld")
}

# build FOLDER [CONFIGURE-ARGUMENT…]: builds the program in a folder below the top. make runs autoreconf and configure
# again if their input has changed.
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
