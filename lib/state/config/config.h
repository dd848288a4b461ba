// SPDX-License-Identifier: Apache-2.0
// The configuration: wheelcache.conf(5). The table in config-table.c drives the parser, the defaults and the manual's
// check. A plain value that owns its strings. One thread until it is read; read-only afterwards, from any thread.
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "lib/base/err.h"
#include "lib/base/limits.h"
#include "lib/base/str.h"
#include "lib/domain/machine/profile.h"

struct strset;

struct config_platform { // [platform NAME]
	char *name;
	char *path;       // absolute, or below [store] path; NULL: [store] path/NAME
	char *write_path; // the same; NULL: path is also where we write
	char *release;    // a command (lib/os/hook.h) after which path shows what write_path holds; NULL: none
	char *volume;     // the value of %v; NULL: name
	uint64_t release_delay, release_timeout; // seconds
	bool is_mutable;                         // bytes may change under a name: files are served with a short max-age
	char *pythons, *arch, *libc;             // of its machines; NULL: as built in for its name
	bool is_private;                         // needs a token to be read
	uint64_t quota_bytes, quota_files;       // 0: no quota
	char *provides; // what its machines offer to wheels: a root folder or a list; NULL: unknown
};

struct config_view { // [view NAME]
	char *name;
	char **platforms; // names, in order of precedence
	size_t platform_count;
	char *upstream;        // "merge" (all), "no", or names in order, with blanks between; NULL: as [upstream] merge says
	char *indexes;         // "first", "together"; NULL: as [upstream] indexes says
	char *upstream_wheels; // "all", "fitting"; NULL: as [upstream] wheels says
	bool is_partial;       // it is served without a platform whose folder was never there
	char *from; // the view or platform whose files may be promoted into this one; NULL: it has no membership, and
		    // shows all files of its platforms
	char *requires, *cells; // of promotion_rules_read(); NULL: none
	char *expect;           // of expectations_read(); NULL: none
	uint64_t keep_versions; // of each project; 0: not said
	uint64_t keep_seconds;  // 0: not said
	uint64_t warn_seconds;  // before a version ends; 0: no warnings
	char *on_change;        // a command; NULL: none
};

struct config_place { // [place s3://BUCKET]: how a bucket is reached, as struct s3_settings has it
	char *name;                                          // "s3://BUCKET"
	char *endpoint, *region, *ca_file, *credentials_command; // NULL: as AWS's clients find them
	char *path_style;                                    // "yes", "no", "auto"
	bool trusts_engine;
};

struct config_branch { // [branch NAME]
	char *name;
	char *constraints, *requirements, *locks; // paths and globs of files, with single blanks between; NULL: none
	char *platforms;                  // globs of platform names, with single blanks between; NULL: all
	char *pythons;                    // NULL: all of a platform's
	char *until;                      // "2027-03-31", the last day (UTC) on which it wants anything; NULL: no end
};

struct config_upstream { // another index: [upstream NAME], or a plain [upstream]
	char *name;    // of a plain [upstream]: "upstream"
	uint64_t said; // the keys that its section has: bits, by config_said()
	char *urls;    // simple indexes, with blanks between; of a [upstream NAME] one
	char *ca_file;                      // NULL: the system's
	char *password_file;                // NULL: none
	uint64_t timeout, connect_timeout;  // seconds
	uint64_t retries, concurrency;
	uint64_t max_page; // bytes
	char *allow_hosts; // with blanks between; NULL: none
	bool allow_private, trust_404;
	char *files;         // how clients get its files: "proxy", "redirect"
	char *files_path;    // where they are kept; NULL: beside the catalog
	uint64_t files_size; // bytes
	uint64_t max_age, negative_max_age, stale; // seconds
	char *block;          // paths of records of the OSV database, with blanks between; NULL: none
	char *block_severity; // "low", "medium", "high", "critical"; NULL: only malware is blocked
	// Names and globs of projects, with single blanks between; NULL: none, and of projects: all.
	char *projects, *not_projects; // which ones it is asked for
	char *private_names, *local_only, *upstream_only, *shared; // besides those of the plain [upstream]
	// Which of its files are offered (lib/state/upstream/offering.h).
	uint64_t cooldown;      // seconds; 0: none
	char *cooldown_exempt;  // names and globs, with single blanks between; NULL: none
	char *cooldown_unknown; // "first-seen", "hide", "allow"
	char *deny, *allow;     // paths of lists of packages; NULL: none
};

struct config_upstreams { // in the order in which they are asked
	struct config_upstream *item;
	size_t count;
};

// Which upstreams are asked for a project, in order: numbers of config_upstreams.
struct config_order {
	uint8_t item[LIMIT_UPSTREAMS];
	uint8_t count;
	bool is_together; // its files are those of all of them; else of the first that has it
	uint32_t aside;   // bits by number: of those of the order that are asked too, but whose answer does not count
};

struct config {
	// [store]
	char *store;        // the tree of wheels; NULL: none given
	char *views_path;   // the folder of memberships and evidence; NULL: .wheelcache-views in the store
	char *default_view; // the view at /simple/; NULL: the only platform, or all merged
	// [catalog]
	char *catalog; // NULL: catalog_default_path()
	// [state]
	char *state; // a folder; NULL: beside the catalog
	// [tokens]
	char *tokens; // NULL: state_file()
	// [change-log]
	char *audit;             // NULL: state_file()
	uint64_t audit_max_size; // bytes
	uint64_t audit_keep;     // seconds; 0: always
	// [evidence]
	uint64_t evidence_quota; // bytes of a token a day
	uint64_t evidence_keep;  // seconds; 0: always
	// [upload]
	uint64_t max_file;         // bytes
	uint64_t spool_size;       // bytes of temporary files
	bool refuses_covered;      // refuses files that upstream has too
	char *upload_audit;        // "refuse", "warn", "off"
	char *upload_audit_policy; // the path of an audit policy; NULL: none
	// [upstream]
	struct config_upstream upstream; // without a name, the keys of a plain [upstream]: what an [upstream NAME] does not
					 // say, it has of it
	size_t upstream_place;           // how many [upstream NAME] stand before its url
	struct config_upstreams upstreams; // all [upstream NAME] in the order of the file; among them, if there is none or
					   // it has a url, the plain one
	char *upstream_indexes;            // "first", "together", unless a view says otherwise
	bool upstream_merge;   // views merge upstream, unless one says otherwise
	char *upstream_wheels; // "all", "fitting" (those that install on a view's machines)
	bool upstream_offline;
	char *upstream_root; // "local", "all"
	// [prune]
	char *prune_packages;    // a path; NULL: none
	char *prune_constraints; // paths with single blanks between; NULL: none
	char *prune_locks;       // paths and globs of lock files, likewise
	uint64_t prune_min_age, prune_upstream_min_age, prune_downloaded, prune_grace; // seconds
	uint64_t prune_max_files, prune_max_bytes, prune_max_failures;                 // per cent
	char *prune_redirect; // "identical", "superseded" (those too), "no"
	bool prune_follow_yanks;
	char *prune_clients_have_upstream; // "yes", "no", or names and globs of views, with single blanks
					   // between; NULL: no
	// [build]
	char *build_packages, *build_skip; // paths of lists of packages; NULL: none
	char *build_index;                 // a simple index; NULL: index_guard_index()
	bool build_index_holds_platform;   // it may hold the platform that is built for
	uint64_t build_jobs;               // 0: as many as the machine has processors
	uint64_t build_timeout;            // seconds for one wheel
	uint64_t build_memory;             // bytes; 0: no limit
	uint64_t build_log_size;           // bytes of a log before compression
	uint64_t build_retries;            // after the first attempt
	char *build_retry_after; // times with blanks between: the pause after the first failure, the second, …
	char *build_command, *build_repair; // commands (lib/os/hook.h); NULL: built in; none
	char *build_extra;                  // commands, one a line; NULL: none
	char *build_test;                   // NULL: built in; "none"
	char *build_wrap;                   // what stands before each of these commands; NULL: nothing
	char *build_environment;            // names of variables that commands inherit, with blanks between; NULL: none
	char *build_work_path;              // the folder for work under way; NULL: beside the results
	char *build_results;                // the file of results; NULL: beside the catalog
	char *build_keep_results;           // "90d 50": an age, and a number for each platform, Python and project
	char *build_on_change;              // a command; NULL: none
	char *build_note;                   // of this host, for the results; NULL: none
	// [index]
	uint64_t index_threads; // 0: as many as the machine has processors
	uint64_t settle;        // seconds: a damaged file younger than this is still being written
	char *watch;            // yes, no, auto: a server sees changes of the store at once
	bool takes_facts;       // what is inside wheels is kept in the catalog
	char *index_on_change;  // a command; NULL: none
	// [server]
	char *listen;             // ADDR:PORT, [V6]:PORT or unix:PATH
	char *url;                // the public URL, with "/" at its end; NULL: any
	char *trusted_proxies;    // addresses and networks, with blanks between; NULL: none
	char *access_log;         // a path, "-" for stdout; NULL: none
	char *tls_cert, *tls_key; // paths; NULL: plain HTTP
	char *log_level;          // error warn info debug
	uint64_t threads;         // 0: as many as the machine has processors
	uint64_t page_cache;      // bytes of ready responses
	uint64_t connections;     // at most
	uint64_t timeout;         // seconds without progress before a connection is closed
	uint64_t rescan;          // seconds between scans while serving; 0: only at the start and on SIGHUP
	uint64_t page_max_age;    // seconds: Cache-Control of pages
	char *record_downloads;   // "who": by whom a file was downloaded; "no"
	uint64_t downloaders_kept; // seconds
	char *deny;               // path of a list of packages, ours too; NULL: none
	char *contact;            // whom to ask about a refusal; NULL: nobody

	struct config_platform *platforms; // in the order of the file
	size_t platform_count;
	struct config_view *views;
	size_t view_count;
	struct config_branch *branches; // in the order of the file
	size_t branch_count;
	struct config_place *places;
	size_t place_count;
};

// Sets all defaults. The caller releases it.
void config_init(struct config *c);
void config_release(struct config *c);
// Makes a copy that owns its own strings. The caller releases *out.
void config_copy(const struct config *c, struct config *out);
// Borrowed; NULL: it has none of this name.
const struct config_upstream *config_upstreams_named(const struct config_upstreams *u, const char *name);
// Whether clients get the files from upstream itself ([upstream] files).
bool config_upstream_redirects(const struct config_upstream *u);
// Reads the file over the values of c. Sections and keys may have the names that they had one release before. ERR_USAGE
// with "path:line: ": an unknown section or key, an invalid value, a view with an unknown platform, a name that occurs
// twice. ERR_IO, ERR_NOT_FOUND: the file.
int config_read(struct config *c, const char *path, struct err *e) MUST_CHECK;
// For config_read: gives each view without platforms those of its `from`, and checks what views say together.
// ERR_USAGE.
int config_views_complete(struct config *c, struct err *e) MUST_CHECK;
// [store] default-view: several platforms are not shown as one, unless a view has this name.
#define CONFIG_NO_VIEW "none"
// Whether /simple/ may show more than one platform.
bool config_merges_platforms(const struct config *c);
// The view of this name, borrowed; NULL: none.
const struct config_view *config_view(const struct config *c, const char *name);
bool config_view_has(const struct config_view *v, const char *platform); // the platform of this name is one of its own
// Sets the error "the configuration has no view NAME", with the one that was meant or those that there are. Returns -1.
int config_refuse_view(const struct config *c, const char *name, enum err_kind kind, struct err *e);
// Sets one key as a line of the file would; for options of the command line. ERR_USAGE.
int config_set(struct config *c, const char *section, const char *key, const char *value, struct err *e) MUST_CHECK;
// The profile of the platform's machines, by its keys and its name. ERR_USAGE. The caller releases *out.
int config_profile(const struct config_platform *p, struct profile *out, struct err *e) MUST_CHECK;
// Adds the private platforms for whose projects the upstream of this number is not asked, sorted: those that are in no
// view whose section says that it has it. The caller releases *out.
void config_hidden_platforms(const struct config *c, size_t upstream, struct strset *out);
// The upstreams that a view merges, none if count is 0; v NULL: a view without a section.
void config_view_order(const struct config *c, const struct config_view *v, struct config_order *out);
// Whether no answer of the order counts: it is empty, or all of it is set aside.
bool config_order_has_none(const struct config_order *order);
// The upstreams that commands compare with: those of the default view; all if it merges none.
void config_default_order(const struct config *c, struct config_order *out);
// Gives *now the upstreams of before, in their order, with the settings that now has for them: which upstreams there
// are takes effect after a restart. False: now had others, or another order.
bool config_keep_upstreams(struct config *now, const struct config *before);
// Calls fn for each key that takes effect only after a restart and whose value differs; section is that of the file, as
// "upstream NAME". Strings are borrowed for the call.
typedef void config_key_fn(void *ctx, const char *section, const char *key);
void config_restart_keys(const struct config *before, const struct config *now, config_key_fn *fn, void *ctx);
// Prints every key with its default and help, in the form of the file: --print-config.
void config_print(FILE *out);
// Prints, in the same form, the keys of this name in all sections, or those of "[SECTION]". Returns their number.
size_t config_print_topic(const char *topic, FILE *out);
// Prints the names of the sections, a line each.
void config_print_sections(FILE *out);
// Returns the key of a section, or with an empty section of any, that a mistyped one was meant to be; NULL if none is
// like it.
const char *config_suggest_key(struct str section, const char *typed);
