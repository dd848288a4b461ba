#!/usr/bin/env bash
# SPDX-License-Identifier: Apache-2.0
# demo-store.sh FOLDER: makes a small store for this machine's own platform. It has the wheels of Debian's python
# packages. Prints its path.
set -euo pipefail

store=$1
wheels=${WHEELS:-/usr/share/python-wheels}
# shellcheck source=/dev/null
platform=$(. /etc/os-release && printf '%s-%s-%s' "$ID" "${VERSION_ID:-0}" "$(uname -m)")

for wheel in "$wheels"/*.whl; do
	[ -f "$wheel" ] || continue
	project=$(basename "$wheel")
	project=${project%%-*}
	folder=$store/$platform/${project:0:1}/$project
	mkdir -p "$folder"
	cp -pu "$wheel" "$folder/"
done
[ -d "$store" ] || {
	printf '%s\n' "demo-store.sh: no wheels in $wheels" >&2
	exit 1
}
printf '%s\n' "$store"
