// SPDX-License-Identifier: Apache-2.0
#include "cli/common/session.h"

#include <assert.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"
#include "lib/place/place-address.h"
#include "lib/place/place-s3.h"
#include "lib/place/spool.h"
#include "lib/state/access/downloads.h"
#include "lib/state/access/tokens.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/volume-release.h"
#include "lib/view/site-check.h"
#include "pruner/plan/pins.h"

enum {
	RETRIES = 5,
	TIMEOUT_SECONDS = 300, // a server checks a large wheel before it answers
	OUTPUT_MOST = 1 << 30,
};

void session_init(struct session *s, const struct command *command)
{
	s->command = command;
	s->grace = SESSION_UNSET;
	s->retries = RETRIES;
	s->timeout = TIMEOUT_SECONDS;
	config_init(&s->config);
	buf_init(&s->out, OUTPUT_MOST);
}

void session_release(struct session *s)
{
	site_release(&s->site);
	upstreams_free(s->upstreams);
	catalog_close(s->catalog);
	audit_close(s->audit);
	store_release(&s->store);
	config_release(&s->config);
	arena_release(&s->arena);
	buf_release(&s->out);
	jsondoc_cleanup(&s->rows);
	free(s->catalog_path);
	free(s->account);
}

void session_list_add(struct session *s, struct session_list *list, const char *text)
{
	ARENA_GROW(&s->arena, list->item, list->count, list->room);
	list->item[list->count++] = text;
}

// --- the configuration ---

void session_give(struct session *s, const char *section, const char *key, const char *value)
{
	assert(s->given_count <
		SESSION_GIVEN_MOST); // a command has fewer options, and a repeated option replaces its value
	for (size_t i = 0; i < s->given_count; i++)
		if (strcmp(s->given[i].section, section) == 0 && strcmp(s->given[i].key, key) == 0) {
			s->given[i].value = value;
			return;
		}
	s->given[s->given_count].section = section;
	s->given[s->given_count].key = key;
	s->given[s->given_count++].value = value;
}

void session_take_store(struct session *s, const char *store)
{
	if (store)
		session_give(s, "store", "path", store);
}

bool session_has_key(const struct session *s, const char *section, const char *key)
{
	for (size_t i = 0; i < s->given_count; i++)
		if (strcmp(s->given[i].section, section) == 0 && strcmp(s->given[i].key, key) == 0)
			return true;
	return false;
}

// Anyone who may register a name at one index can add files to the project of that name at another.
static bool upstream_urls_have(const struct config *c, char byte)
{
	for (size_t i = 0; i < c->upstreams.count; i++)
		if (c->upstreams.item[i].urls && strchr(c->upstreams.item[i].urls, byte))
			return true;
	return false;
}

// A file that this account cannot reach is there too: reading it fails, and says why.
static bool has_usual_file(void)
{
	return access(SESSION_USUAL, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

// The catalog of the configuration, if it has this store. The caller frees it.
static char *catalog_of_store(const struct config *c, const char *store)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *one = place_address_real(store, &ignored);
	CLEANUP(mem_free) char *other = c->store ? place_address_real(c->store, &ignored) : NULL;
	return one && other && strcmp(one, other) == 0 ? cli_config_catalog(c, &ignored) : NULL;
}

// Who names the store of the machine's server means that server, but gets a catalog of this account.
static void warn_of_other_catalog(const struct session *s, const struct config *c)
{
	struct err ignored = ERR_INIT;
	CLEANUP(config_release) struct config usual;
	config_init(&usual);
	if (s->file || !s->has_searched || s->search != SESSION_SEARCH_ALL || getenv("WHEELCACHE_CONFIG") ||
		!c->store || c->catalog || !has_usual_file() || config_read(&usual, SESSION_USUAL, &ignored) < 0)
		return;
	CLEANUP(mem_free) char *ours = cli_config_catalog(c, &ignored);
	CLEANUP(mem_free) char *theirs = catalog_of_store(&usual, c->store);
	if (ours && theirs && strcmp(ours, theirs) != 0)
		log_warn("the catalog is %s; " SESSION_USUAL
			 " has another one for this store, %s, which is used if no STORE is given",
			ours, theirs);
}

// A bucket that is in use stays as it is.
static void use_places(const struct config *c)
{
	for (size_t i = 0; i < c->place_count; i++) {
		const struct config_place *p = &c->places[i];
		s3_bucket_configure(&(struct s3_settings){.bucket = place_s3_bucket(p->name),
			.endpoint = p->endpoint,
			.region = p->region,
			.path_style = p->path_style,
			.ca_file = p->ca_file,
			.credentials_command = p->credentials_command,
			.trusts_engine = p->trusts_engine});
	}
	spool_limit(c->spool_size);
}

int session_read(struct session *s, struct config *c, struct err *e)
{
	s->has_config |= c == &s->config;
	const char *variable = getenv("WHEELCACHE_CONFIG");
	if (!s->has_searched && !s->file && s->search != SESSION_SEARCH_NONE) {
		s->has_searched = true;
		if (variable)
			s->file = *variable ? variable : NULL;
		else if (s->search == SESSION_SEARCH_ALL && !session_has_key(s, "store", "path") &&
			 !session_has_key(s, "catalog", "path") && has_usual_file())
			s->file = SESSION_USUAL;
		if (s->file && !s->is_quiet)
			log_info("the configuration is %s", s->file);
	}
	if (s->file && config_read(c, s->file, e) < 0) {
		if (e->kind != ERR_USAGE)
			err_prefix(e, "cannot read the configuration ");
		if (e->kind != ERR_USAGE && s->has_searched)
			err_advise(e, "run this as the account of the server, or name a file: --config FILE");
		e->kind = ERR_USAGE; // even for a missing file
		return -1;
	}
	for (size_t i = 0; i < s->given_count; i++)
		if (config_set(c, s->given[i].section, s->given[i].key, s->given[i].value, e) < 0)
			return -1;
	use_places(c);
	for (int level = 0; level < LOG_LEVEL_COUNT; level++)
		if (strcmp(c->log_level, log_level_name[level]) == 0)
			log_set_level((enum log_level)level);
	if ((c->upstreams.count > 1 || upstream_urls_have(c, ' ')) && strcmp(c->upstream_indexes, "together") == 0)
		log_warn(
			"[upstream] indexes = together: the files of a project may come from any of the indexes. "
			"Anyone who may register a name at one index can add files to the project of that name at another. "
			"indexes = first prevents this");
	warn_of_other_catalog(s, c);
	return 0;
}

int session_adopt(const struct session *s, const struct store *store, struct catalog *catalog, struct err *e)
{
	bool is_other = s->file && session_has_key(s, "store", "path");
	return is_other ? 0 : store_adopt(store, catalog, e);
}

char *cli_config_catalog(const struct config *c, struct err *e)
{
	if (c->catalog)
		return xstrdup(c->catalog);
	if (!c->store && !c->platform_count && c->upstream_merge)
		return catalog_default_path("/upstream");
	if (!c->store) {
		err_set(e, ERR_USAGE, "without a store, the catalog must be given: --catalog FILE, or [catalog] path");
		return NULL;
	}
	CLEANUP(mem_free) char *real = place_address_real(c->store, e);
	return real ? catalog_default_path(real) : NULL;
}

static void warn_if_world_readable(const char *path, const char *what)
{
	struct stat st;
	if (stat(path, &st) == 0 && S_ISREG(st.st_mode) && st.st_mode & S_IROTH)
		log_warn("%s: every account of this machine can read %s (mode %04o): chmod o= %s", path, what,
			(unsigned)st.st_mode & 07777, path);
}

// New files get a safe mode. The mode of existing files may be intended, so it is not changed.
void session_warn_of_readers(const struct session *s)
{
	const struct config *c = &s->config;
	const char *catalog = s->catalog_path;
	CLEANUP(mem_free) char *audit = state_file(c, catalog, STATE_FILE_AUDIT);
	CLEANUP(mem_free) char *tokens = state_file(c, catalog, STATE_FILE_TOKENS);
	CLEANUP(mem_free) char *ours = state_file(c, catalog, STATE_FILE_OWNED_NAMES);
	CLEANUP(mem_free) char *downloads = state_file(c, catalog, STATE_FILE_DOWNLOADS);
	CLEANUP(mem_free) char *downloaders = state_file(c, catalog, STATE_FILE_DOWNLOADERS);
	const char *const path[] = {catalog, audit, tokens, ours, downloads, downloaders};
	for (size_t i = 0; i < ARRAY_SIZE(path); i++)
		warn_if_world_readable(path[i], "the names of projects and people in it");
	if (s->file && upstream_urls_have(c, '@'))
		warn_if_world_readable(s->file, "the password of an upstream index in it");
}

// --- what is opened ---

int session_audit(struct session *s, struct err *e)
{
	CLEANUP(audit_place_release) struct audit_place place = {0};
	audit_place_init(&place, &s->config, s->catalog_path);
	return audit_open(&place, &s->audit, e);
}

static int open_session_catalog(struct session *s, unsigned needs, struct err *e)
{
	if (needs & SESSION_CHANGE && access(s->catalog_path, F_OK) < 0)
		return err_set(e, ERR_NOT_FOUND, "there is no catalog %s; wheelcache index makes it", s->catalog_path);
	if ((needs & SESSION_READ && catalog_open_read(s->catalog_path, &s->catalog, e) < 0) ||
		(needs & SESSION_AUDIT && session_audit(s, e) < 0))
		return -1;
	if (!(needs & (SESSION_CHANGE | SESSION_MAKE)))
		return 0;
	catalog_close(STEAL_PTR(s->catalog));
	return catalog_open(s->catalog_path, &s->catalog, e);
}

int session_locate(struct session *s, bool is_writer, struct err *e)
{
	if (!s->catalog_path)
		s->catalog_path = cli_config_catalog(&s->config, e);
	return s->catalog_path ? state_files_settle(&s->config, s->catalog_path, is_writer, e) : -1;
}

int session_open(struct session *s, unsigned needs, struct err *e)
{
	const unsigned writes = SESSION_CHANGE | SESSION_MAKE | SESSION_AUDIT, catalog = SESSION_READ | writes;
	const bool is_writer = needs & writes || !(needs & SESSION_READ);
	if (!s->has_config && session_read(s, &s->config, e) < 0)
		return -1;
	unsigned wait_ms = needs & SESSION_CHECK ? STORE_PROMPT : STORE_PATIENT;
	if (needs & SESSION_CHECK && (s->config.store || s->config.platform_count || s->config.upstream_merge))
		needs |= SESSION_STORE | SESSION_FIND;
	if ((needs & SESSION_LOCATE && session_locate(s, is_writer, e) < 0) ||
		(needs & SESSION_STORE && store_open(&s->config, wait_ms, &s->store, e) < 0) ||
		(needs & catalog && (session_locate(s, is_writer, e) < 0 || open_session_catalog(s, needs, e) < 0)))
		return -1;
	if ((needs & SESSION_FIND && site_check_find(&s->config, &s->store, s->catalog, e) < 0) ||
		(needs & SESSION_REGISTER && site_check_register(&s->config, &s->store, s->catalog, e) < 0) ||
		(needs & SESSION_PINS && pins_sync(&s->config, s->catalog, e) < 0) ||
		(needs & SESSION_SITE && site_borrow(&s->site, &s->config, &s->store, s->catalog, e) < 0))
		return -1;
	return needs & SESSION_UPSTREAM ? upstreams_new(&s->config, &s->upstreams, e) : 0;
}

const char *session_project(struct session *s, struct str name)
{
	CLEANUP(buf_release) struct buf normal = buf_up_to(name.len + 1);
	name_normalize(name, &normal);
	return arena_copy(&s->arena, buf_view(&normal));
}

const char *session_account(struct session *s)
{
	if (!s->account)
		s->account = audit_account();
	return s->account;
}

const char *session_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

// Runs the release command of the platform at once, since no server may be running. If it fails, a running server
// tries it again.
int session_release_volume(struct session *s, const struct platform *p, const char *done, const char *file,
	struct err *e)
{
	if (!p->release)
		return 0;
	const _Atomic int64_t end_ms = clock_ms() + (int64_t)p->release_timeout * 1000;
	int released = volume_release_run(s->catalog_path, p, &end_ms, true, e);
	if (released == 0)
		return 0; // a server has released it
	const struct audit_entry entry = {.who = session_account(s),
		.action = "release",
		.platform = p->name,
		.result = released < 0 ? "failed" : "done",
		.reason = released < 0 ? e->msg : NULL};
	struct err unwritten = ERR_INIT;
	int written = audit_write(s->audit, &entry, released < 0 ? &unwritten : e);
	if (released < 0)
		err_prefix(e, "platform %s: %s %s, but it is not released: ", p->name, done, file);
	return released < 0 || written < 0 ? -1 : 0;
}

// --- the output ---

void session_json(struct session *s, struct jsondoc *doc)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *owned = doc;
	jsondoc_write(owned, 2, &s->out);
}

void session_json_rows(struct session *s, struct jsondoc *doc, const char *key)
{
	jsondoc_put(doc, key, STEAL_PTR(s->rows));
	session_json(s, doc);
}

int session_print(struct session *s, struct err *e)
{
	if (s->out.failed)
		return err_set(e, ERR_LIMIT, "the report is too long");
	if ((s->out.len && fwrite(s->out.data, 1, s->out.len, stdout) != s->out.len) || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	buf_clear(&s->out);
	return 0;
}
