// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/state-files.h"

#include <stdlib.h>
#include <string.h>

#include "lib/format/digest.h"

// Behind the path of the catalog, and the member of struct config that names another place; 0: none does.
static const struct {
	const char *ending;
	size_t configured;
} places[STATE_FILE_COUNT] = {
	[STATE_FILE_CHANGES] = {"-changes", 0},
	[STATE_FILE_SCAN_LOCK] = {".lock", 0},
	[STATE_FILE_WATCH_LOCK] = {".watch-lock", 0},
	[STATE_FILE_PRUNE_LOCK] = {".prune", 0},
	[STATE_FILE_RESERVED] = {".reserved", 0},
	[STATE_FILE_UPSTREAM] = {".files", offsetof(struct config, upstream_files_path)},
	[STATE_FILE_TOKENS] = {".tokens", offsetof(struct config, tokens)},
	[STATE_FILE_AUDIT] = {".audit", offsetof(struct config, audit)},
	[STATE_FILE_DOWNLOADS] = {".downloads", 0},
	[STATE_FILE_BUILDS] = {".builds", offsetof(struct config, build_results)},
	[STATE_FILE_OWNED_NAMES] = {".ours", 0},
	[STATE_FILE_RELEASE] = {".release", 0},
};

char *state_file(const struct config *c, const char *catalog_path, enum state_file which)
{
	const char *named = NULL;
	if (c && places[which].configured)
		memcpy(&named, (const char *)c + places[which].configured, sizeof(named));
	return named ? xstrdup(named) : xasprintf("%s%s", catalog_path, places[which].ending);
}

// --- the catalog ---

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
