// SPDX-License-Identifier: Apache-2.0
// What a command works with: its command line, its configuration, and what it opens of the state. It is the first
// member of each command's struct. All is released at the end of the command. The main thread only, but for what the
// parts say.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "lib/base/arena.h"
#include "lib/base/buf.h"
#include "lib/format/jsondoc.h"
#include "lib/state/access/audit.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/config/config-type.h"
#include "lib/state/store/store.h"
#include "lib/state/upstream/upstream.h"
#include "lib/view/view.h"

#define SESSION_UNSET UINT64_MAX // of a number: the option is not given

enum { SESSION_GIVEN_MOST = 32 };
// The file that is read where neither the command line nor the environment names one.
#define SESSION_USUAL "/etc/wheelcache/wheelcache.conf"

// Where a command looks for its configuration without --config.
enum session_search {
	SESSION_SEARCH_ALL,      // $WHEELCACHE_CONFIG, else SESSION_USUAL if no store and no catalog is given
	SESSION_SEARCH_VARIABLE, // it needs no state of this machine's server: the variable only
	SESSION_SEARCH_NONE,
};

struct command;

// The values of an option that may be repeated. The texts are borrowed from the command line.
struct session_list {
	const char **item; // in the arena of the session
	size_t count, room;
};

struct session {
	const struct command *command;
	char **word; // what follows the options; NULL at the end
	size_t words;
	const char *own_option; // the last given option that only this command has; NULL: none
	// The shared options. Texts are borrowed from the command line; NULL: not given.
	bool is_json, is_quiet, is_dry_run, is_offline, is_taken_over;
	const char *platform, *python, *ca_file, *output, *token_file, *reason;
	struct session_list globs; // of --platform; a command may add some
	uint64_t grace;            // seconds; SESSION_UNSET
	uint64_t retries, timeout; // timeout: seconds; both have defaults, which begin() may change
	// The configuration: --config, then the file that session_read() found; NULL: none. Values of the command line
	// override those of the file; they are kept, so that the file can be read again.
	const char *file;
	enum session_search search;
	bool has_searched;
	struct {
		const char *section, *key, *value;
	} given[SESSION_GIVEN_MOST];
	size_t given_count;
	struct config config;
	bool has_config;      // it is read
	struct arena arena;   // for whatever lives as long as the command
	struct buf out;       // what it prints: it goes to standard output once run() has not failed
	struct jsondoc *rows; // with --json an array that it may fill; else NULL: it prints text
	// session_open() fills these.
	char *catalog_path;
	struct store store;
	struct catalog *catalog;
	struct audit *audit;
	struct site site; // borrows the store
	struct upstreams *upstreams;
	char *account; // of session_account()
};

// What is opened, in this order.
enum session_need {
	SESSION_LOCATE = 1 << 10, // the path of the catalog comes first: what is not configured is missed in that order
	SESSION_STORE = 1 << 0,
	SESSION_READ = 1 << 1, // the catalog, to be read: ERR_NOT_FOUND if there is none
	SESSION_CHANGE =
		1 << 2, // the catalog, to be written: the same. So is SESSION_READ | SESSION_MAKE, in other words
	SESSION_MAKE = 1 << 3,  // the catalog, to be written; it is made if there is none
	SESSION_AUDIT = 1 << 4, // the log of changes, before the catalog can be changed
	SESSION_FIND = 1 << 5,  // what a server refuses is refused (lib/view/site-check.h), and platforms get their ids
	SESSION_REGISTER = 1 << 6, // the same, and new platforms come into the catalog
	SESSION_PINS = 1 << 7,     // the catalog has the memberships of views as their files are
	SESSION_SITE = 1 << 8,
	SESSION_UPSTREAM = 1 << 9,
	SESSION_CHECK = 1 << 11, // for who reads the catalog alone: SESSION_FIND, if a store is configured
	SESSION_VIEWS = SESSION_LOCATE | SESSION_STORE | SESSION_READ | SESSION_FIND | SESSION_SITE,
};
// Reads the configuration, unless that is done, and opens what is needed: several of the above, to which a later call
// may add. ERR_USAGE: the configuration; errors of the parts.
int session_open(struct session *s, unsigned needs, struct err *e) MUST_CHECK;

void session_list_add(struct session *s, struct session_list *list, const char *text);
void session_init(struct session *s, const struct command *command);
void session_release(struct session *s);
// Sets [store] path to the STORE of a command line; NULL: nothing.
void session_take_store(struct session *s, const char *store);
// Gives the configuration a value, instead of an earlier one of the same key. Borrows the texts.
void session_give(struct session *s, const char *section, const char *key, const char *value);
// Whether the command line sets this key.
bool session_has_key(const struct session *s, const char *section, const char *key);
// Reads the file, then the command line's values, into *c, which is the session's own or another. A file that the
// command line does not name is searched at the first call, and logged. Also sets the log level, and warns of risky
// upstream settings and of a catalog that is not the one of the machine's server. ERR_USAGE if the file cannot be read.
int session_read(struct session *s, struct config *c, struct err *e) MUST_CHECK;
// The path of the catalog: as configured, or the default path for the store. The caller frees it.
char *cli_config_catalog(const struct config *c, struct err *e) MUST_CHECK;
// Sets the path of the catalog, and sees to it that the state is where the configuration says (state_files_settle()).
int session_locate(struct session *s, bool is_writer, struct err *e) MUST_CHECK;
// store_adopt() for a command that may: not where a STORE of the command line takes the place of the configuration's.
int session_adopt(const struct session *s, const struct store *store, struct catalog *catalog,
	struct err *e) MUST_CHECK;
// Opens the log of changes alone, which session_open() does with SESSION_AUDIT. The path of the catalog is known.
int session_audit(struct session *s, struct err *e) MUST_CHECK;
// Logs a warning for each file that may hold names or passwords and that every account of the machine can read. The
// path of the catalog is known.
void session_warn_of_readers(const struct session *s);
// The normal form of a project's name, in the arena.
const char *session_project(struct session *s, struct str name);
// The account that runs the command, for the log of changes.
const char *session_account(struct session *s);
// A variable of the environment. An empty one counts as unset (NULL): CI systems set secrets that a job may not see to
// the empty string.
const char *session_variable(const char *name);
// Runs the release command of the platform, if it has one, so that clients see what was done to the file: "yanked".
int session_release_volume(struct session *s, const struct platform *p, const char *done, const char *file,
	struct err *e) MUST_CHECK;

// Puts the document, which it releases, into the output.
void session_json(struct session *s, struct jsondoc *doc);
// The same of a document that gets the rows under this key.
void session_json_rows(struct session *s, struct jsondoc *doc, const char *key);
// Writes the output now: for a command that may fail behind it. ERR_IO; ERR_LIMIT: it is too large.
int session_print(struct session *s, struct err *e) MUST_CHECK;
