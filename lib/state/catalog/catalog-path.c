// SPDX-License-Identifier: Apache-2.0
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "lib/state/catalog/catalog.h"

enum { HASH_DIGITS = 12 };

// The folder for the state of programs: systemd's StateDirectory=, else that of the XDG base directory specification.
static char *state_folder(void)
{
	const char *systemd = getenv("STATE_DIRECTORY");
	const char *xdg = getenv("XDG_STATE_HOME");
	const char *home = getenv("HOME");
	if (systemd && *systemd) {
		struct str all = str_from(systemd); // several are separated by colons
		struct str first = str_cut(&all, ':');
		return xstrndup(first.ptr, first.len);
	}
	if (xdg && xdg[0] == '/') // "all paths must be absolute; relative ones are ignored"
		return xasprintf("%s/wheelcache", xdg);
	if (home && home[0] == '/')
		return xasprintf("%s/.local/state/wheelcache", home);
	return xstrdup("/var/lib/wheelcache");
}

char *catalog_default_path(const char *store_path)
{
	uint8_t sha256[SHA256_SIZE];
	char digits[SHA256_HEX];
	struct str path = str_from(store_path);
	digest_sha256(path, sha256);
	hex_encode(sha256, sizeof(sha256), digits);
	struct str name = str_slice(path, (size_t)(str_rfind(path, '/') + 1), path.len);
	if (!name.len)
		name = STR("root");
	CLEANUP(mem_free) char *folder = state_folder();
	return xasprintf("%s/" STR_FMT "-%.*s.db", folder, STR_ARG(name), HASH_DIGITS, digits);
}
