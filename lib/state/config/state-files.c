// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/state-files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/format/digest.h"
#include "lib/os/fs.h"
#include "lib/os/safefile.h"
#include "lib/place/record.h"

enum { MOVE_MS = 60000 }; // another process that moves the state is waited for

// Behind the path of the catalog; the member of struct config that names another place (0: none does); and whether it
// lies in [state] path, under the ending without its dot.
static const struct {
	const char *ending;
	size_t configured;
	bool survives;
} places[STATE_FILE_COUNT] = {
	[STATE_FILE_CHANGES] = {"-changes", 0, false},
	[STATE_FILE_SCAN_LOCK] = {".lock", 0, false},
	[STATE_FILE_WATCH_LOCK] = {".watch-lock", 0, false},
	[STATE_FILE_PRUNE_LOCK] = {".prune", 0, false},
	[STATE_FILE_RESERVED] = {".reserved", 0, false},
	[STATE_FILE_PROBED] = {".probed", 0, false},
	[STATE_FILE_BUILDS] = {".builds", offsetof(struct config, build_results), false},
	[STATE_FILE_RELEASE] = {".release", 0, false},
	[STATE_FILE_TOKENS] = {".tokens", offsetof(struct config, tokens), true},
	[STATE_FILE_AUDIT] = {".audit", offsetof(struct config, audit), true},
	[STATE_FILE_DOWNLOADS] = {".downloads", 0, true},
	[STATE_FILE_DOWNLOADERS] = {".downloaders", 0, true},
	[STATE_FILE_OWNED_NAMES] = {".ours", 0, true},
	[STATE_FILE_ARRIVALS] = {".arrivals", 0, true},
	[STATE_FILE_ADVISORIES] = {".advisories", 0, true},
	[STATE_FILE_OFFERS] = {".offers", 0, true},
	[STATE_FILE_MIRRORS] = {".mirrors", 0, true},
	[STATE_FILE_ATTEMPTS] = {".attempts", 0, true}, // behind the path of STATE_FILE_BUILDS
};

static const char *configured_path(const struct config *c, enum state_file which)
{
	const char *named = NULL;
	if (c && places[which].configured)
		memcpy(&named, (const char *)c + places[which].configured, sizeof(named));
	return named;
}

// folder: a [state] path; NULL: beside the catalog.
static char *path_below(const struct config *c, const char *folder, const char *catalog_path, enum state_file which)
{
	if (folder && places[which].survives)
		return xasprintf("%s/%s", folder, places[which].ending + 1);
	CLEANUP(mem_free)
	char *index = which == STATE_FILE_ATTEMPTS ? state_file(c, catalog_path, STATE_FILE_BUILDS) : NULL;
	return xasprintf("%s%s", index ? index : catalog_path, places[which].ending);
}

char *state_file(const struct config *c, const char *catalog_path, enum state_file which)
{
	const char *named = configured_path(c, which);
	return named ? xstrdup(named) : path_below(c, c ? c->state : NULL, catalog_path, which);
}

// --- moving to another [state] path ---

struct settling {
	const struct config *config;
	const char *catalog_path;
	char *note;      // CATALOG.state, which has the folder
	struct buf from; // what it says; "": the state is beside the catalog
};

static void settling_release(struct settling *s)
{
	free(s->note);
	buf_release(&s->from);
}

static int read_state_note(struct settling *s, struct err *e)
{
	struct err missing = ERR_INIT;
	buf_clear(&s->from);
	if (safefile_read(s->note, &s->from, &missing) < 0 && err_unless_missing(e, &missing) < 0)
		return -1;
	buf_putc(&s->from, '\0');
	s->from.data[strcspn(s->from.data, "\n")] = '\0';
	return 0;
}

char *state_file_noted(const char *catalog_path, enum state_file which)
{
	struct err ignored = ERR_INIT; // whoever knows the configuration has said so
	CLEANUP(settling_release) struct settling s = {.note = xasprintf("%s.state", catalog_path)};
	buf_init(&s.from, LIMIT_PATH);
	bool is_noted = read_state_note(&s, &ignored) == 0 && *s.from.data;
	return path_below(NULL, is_noted ? s.from.data : NULL, catalog_path, which);
}

static bool is_settled(const struct settling *s)
{
	return strcmp(s->from.data, s->config->state) == 0;
}

// Names of a file and of the moved ones of the audit log: PATH, PATH.1, … The caller frees it.
static char *numbered(const char *path, unsigned number)
{
	return number ? xasprintf("%s.%u", path, number) : xstrdup(path);
}

static bool folder_has_piece(int folder, const char *name)
{
	return faccessat(folder, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

// 1: it was moved, or is there already; 0: there is none; -1.
static int move_file(const char *from, const char *to, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(mem_free) char *old_name = NULL;
	CLEANUP(mem_free) char *new_name = NULL;
	CLEANUP(mem_close) int old = safefile_parent(from, false, &old_name, &missing);
	if (old < 0 || !folder_has_piece(old, old_name))
		return 0;
	CLEANUP(mem_close) int new = safefile_parent(to, true, &new_name, e);
	if (new < 0)
		return -1;
	if (folder_has_piece(new, new_name)) {
		log_warn("%s stays where it is, and counts no longer: there is %s", from, to);
		return 1;
	}
	if (renameat(old, old_name, new, new_name) < 0)
		return errno == EXDEV ? err_set(e, ERR_USAGE,
						"%s is on another file system than %s: move it while no wheelcache runs: mv %s %s",
						from, to, from, to)
				      : err_errno(e, ERR_IO, "cannot move %s to %s", from, to);
	return fs_sync_dir(new, e) < 0 || fs_sync_dir(old, e) < 0 ? -1 : 1;
}

static int move_piece(const struct settling *s, enum state_file which, struct err *e)
{
	CLEANUP(mem_free) char *from = path_below(s->config, *s->from.data ? s->from.data : NULL, s->catalog_path, which);
	CLEANUP(mem_free) char *to = path_below(s->config, s->config->state, s->catalog_path, which);
	for (unsigned i = 0;; i++) {
		CLEANUP(mem_free) char *one = numbered(from, i);
		CLEANUP(mem_free) char *other = numbered(to, i);
		int moved = move_file(one, other, e);
		if (moved < 0 || (!moved && i) || which != STATE_FILE_AUDIT)
			return moved < 0 ? -1 : 0;
	}
}

static bool has_pieces(const struct settling *s)
{
	bool has_any = false;
	for (int i = 0; i < STATE_FILE_COUNT; i++) {
		CLEANUP(mem_free) char *from = path_below(s->config, *s->from.data ? s->from.data : NULL, s->catalog_path, i);
		has_any |= places[i].survives && !configured_path(s->config, i) && access(from, F_OK) == 0;
	}
	return has_any;
}

static int write_state_note(const struct settling *s, struct err *e)
{
	size_t name = (size_t)(str_rfind(str_from(s->note), '/') + 1);
	CLEANUP(mem_free) char *folder = name ? xstrndup(s->note, name) : xstrdup(".");
	CLEANUP(mem_free) char *text = xasprintf("%s\n", s->config->state);
	CLEANUP(place_folder_close) struct place_folder *open = record_secret_folder(folder, "", true, e);
	return open ? record_replace(open, s->note + name, str_from(text), e) : -1;
}

// One process at a time.
static int move_state(struct settling *s, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *folder = record_secret_folder(s->config->state, "", true, e);
	CLEANUP(place_unlock) struct place_lock *lock = NULL;
	if (!folder || place_lock(place_of_folder(folder), false, MOVE_MS, &lock, e) < 0 || read_state_note(s, e) < 0)
		return -1;
	if (is_settled(s))
		return 0;
	for (int i = 0; i < STATE_FILE_COUNT; i++)
		if (places[i].survives && !configured_path(s->config, i) && move_piece(s, i, e) < 0)
			return -1;
	log_info("the state of %s is now in %s", s->catalog_path, s->config->state);
	return write_state_note(s, e);
}

int state_files_settle(const struct config *c, const char *catalog_path, bool is_writer, struct err *e)
{
	CLEANUP(settling_release)
	struct settling s = {.config = c, .catalog_path = catalog_path, .note = xasprintf("%s.state", catalog_path)};
	buf_init(&s.from, LIMIT_PATH);
	if (read_state_note(&s, e) < 0)
		return err_prefix(e, "where the state is: ");
	if (!c->state && *s.from.data)
		return err_set(e, ERR_USAGE, "the state of %s is in %s: set [state] path = %s", catalog_path, s.from.data,
			s.from.data);
	if (!c->state || is_settled(&s) || (!is_writer && !has_pieces(&s)))
		return 0;
	if (!is_writer)
		return err_set(e, ERR_USAGE, "the state of %s is not yet in %s: start the server, which moves it there",
			catalog_path, c->state);
	return move_state(&s, e) < 0 ? err_prefix(e, "[state] path: ") : 0;
}

char *state_file_upstream(const struct config_upstream *u, const char *catalog_path)
{
	bool is_plain = strcmp(u->name, "upstream") == 0;
	return xasprintf("%s%s%s%s", u->files_path ? u->files_path : catalog_path, u->files_path ? "" : ".files",
		is_plain ? "" : ".", is_plain ? "" : u->name);
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
