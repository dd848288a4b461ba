// SPDX-License-Identifier: Apache-2.0
#include "cli/common/cli-config.h"

#include <assert.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/os/fs.h"
#include "lib/state/access/audit.h"
#include "lib/state/access/downloads.h"
#include "lib/state/access/tokens.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/store-adopt.h"
#include "lib/state/upstream/owned-names.h"

static void give_value(struct cli_config *s, const char *section, const char *key, const char *value)
{
	assert(s->count < CLI_CONFIG_MOST); // a command has fewer options, and a repeated option replaces its value
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->given[i].section, section) == 0 && strcmp(s->given[i].key, key) == 0) {
			s->given[i].value = value;
			return;
		}
	s->given[s->count].section = section;
	s->given[s->count].key = key;
	s->given[s->count++].value = value;
}

struct option_sink {
	struct cli_config *config;
	cli_config_option_fn *fn;
	void *ctx;
};

static int take_option_row(void *ctx, const struct option_row *row, const char *value, struct err *e)
{
	const struct option_sink *sink = ctx;
	struct cli_config *s = sink->config;
	const struct command_flag flags[] = {
		{"json", &s->is_json}, {"quiet", &s->is_quiet}, {"dry-run", &s->is_dry_run}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), row->name))
		return 0;
	if (row->key) {
		give_value(s, row->section, row->key, value ? value : "yes");
		return 0;
	}
	if (strcmp(row->name, "config") == 0) {
		s->file = value;
		return 0;
	}
	assert(sink->fn); // a command without fn has no other option
	return sink->fn(sink->ctx, row->name, value, e);
}

int cli_config_options(struct cli_config *s, const struct command *command, int argc, char **argv,
	cli_config_option_fn *fn, void *ctx, struct err *e)
{
	struct option_sink sink = {s, fn, ctx};
	return command_options(command, argc, argv, take_option_row, &sink, e);
}

void cli_config_take_store(struct cli_config *s, const char *store)
{
	give_value(s, "store", "path", store);
}

int cli_config_take_line(struct cli_config *s, const struct command *command, int argc, char **argv,
	cli_config_option_fn *fn, void *ctx, struct err *e)
{
	int first = cli_config_options(s, command, argc, argv, fn, ctx, e);
	if (first < 0)
		return -1;
	if (argc - first > 1)
		return err_set(e, ERR_USAGE, "one STORE at most, not also %s", argv[first + 1]);
	if (argc - first == 1)
		cli_config_take_store(s, argv[first]);
	return 0;
}

static int set_number(const struct cli_config_number *row, const char *value, struct err *e)
{
	if (!row->setting->set(row->out, value))
		return err_set(e, ERR_USAGE, "--%s: \"%s\" is not %s", row->option, value, row->setting->wants);
	if (*row->out > row->setting->most)
		return err_set(e, ERR_USAGE, "--%s: %s is more than %llu", row->option, value,
			(unsigned long long)row->setting->most);
	return 0;
}

int cli_config_take_number(const struct cli_config_number *table, size_t count, const char *option, const char *value,
	struct err *e)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(option, table[i].option) == 0)
			return set_number(&table[i], value, e);
	return err_set(e, ERR_USAGE, "--%s", option);
}

static void set_log_level(const char *name)
{
	for (int level = 0; level < LOG_LEVEL_COUNT; level++)
		if (strcmp(name, log_level_name[level]) == 0)
			log_set_level((enum log_level)level);
}

// Anyone who may register a name at one index can add files to the project of that name at another.
static void warn_of_indexes(const struct config *c)
{
	if (strchr(c->upstream_urls, ' ') && strcmp(c->upstream_indexes, "together") == 0)
		log_warn(
			"[upstream] indexes = together: the files of a project may come from any of the indexes. "
			"Anyone who may register a name at one index can add files to the project of that name at another. "
			"indexes = first prevents this");
}

// --- the file ---

bool cli_config_has(const struct cli_config *s, const char *section, const char *key)
{
	for (size_t i = 0; i < s->count; i++)
		if (strcmp(s->given[i].section, section) == 0 && strcmp(s->given[i].key, key) == 0)
			return true;
	return false;
}

static bool has_place(const struct cli_config *s)
{
	return cli_config_has(s, "store", "path") || cli_config_has(s, "catalog", "path");
}

// A file that this account cannot reach is there too: reading it fails, and says why.
static bool has_usual_file(void)
{
	return access(CLI_CONFIG_USUAL, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

static void search_file(struct cli_config *s)
{
	const char *variable = getenv("WHEELCACHE_CONFIG");
	if (s->has_searched || s->file || s->search == CLI_CONFIG_SEARCH_NONE)
		return;
	s->has_searched = true;
	if (variable)
		s->file = *variable ? variable : NULL;
	else if (s->search == CLI_CONFIG_SEARCH_ALL && !has_place(s) && has_usual_file())
		s->file = CLI_CONFIG_USUAL;
	if (s->file && !s->is_quiet)
		log_info("the configuration is %s", s->file);
}

// The catalog of the configuration, if it has this store. The caller frees it.
static char *catalog_of_store(const struct config *c, const char *store)
{
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *one = fs_real_path(store, &ignored);
	CLEANUP(mem_free) char *other = c->store ? fs_real_path(c->store, &ignored) : NULL;
	return one && other && strcmp(one, other) == 0 ? cli_config_catalog(c, &ignored) : NULL;
}

// Who names the store of the machine's server means that server, but gets a catalog of this account.
static void warn_of_other_catalog(const struct cli_config *s, const struct config *c)
{
	struct err ignored = ERR_INIT;
	CLEANUP(config_release) struct config usual;
	config_init(&usual);
	if (s->file || !s->has_searched || s->search != CLI_CONFIG_SEARCH_ALL || getenv("WHEELCACHE_CONFIG") ||
		!c->store || c->catalog || !has_usual_file() || config_read(&usual, CLI_CONFIG_USUAL, &ignored) < 0)
		return;
	CLEANUP(mem_free) char *ours = cli_config_catalog(c, &ignored);
	CLEANUP(mem_free) char *theirs = catalog_of_store(&usual, c->store);
	if (ours && theirs && strcmp(ours, theirs) != 0)
		log_warn("the catalog is %s; " CLI_CONFIG_USUAL
			 " has another one for this store, %s, which is used if no STORE is given",
			ours, theirs);
}

static int refuse_config_file(const struct cli_config *s, struct err *e)
{
	if (e->kind != ERR_USAGE)
		err_prefix(e, "cannot read the configuration ");
	if (e->kind != ERR_USAGE && s->has_searched)
		err_advise(e, "run this as the account of the server, or name a file: --config FILE");
	e->kind = ERR_USAGE; // even for a missing file
	return -1;
}

int cli_config_read(struct cli_config *s, struct config *c, struct err *e)
{
	search_file(s);
	if (s->file && config_read(c, s->file, e) < 0)
		return refuse_config_file(s, e);
	for (size_t i = 0; i < s->count; i++)
		if (config_set(c, s->given[i].section, s->given[i].key, s->given[i].value, e) < 0)
			return -1;
	set_log_level(c->log_level);
	warn_of_indexes(c);
	warn_of_other_catalog(s, c);
	return 0;
}

int cli_config_adopt(const struct cli_config *s, const struct store *store, struct catalog *catalog, struct err *e)
{
	bool is_other = s->file && cli_config_has(s, "store", "path");
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
	CLEANUP(mem_free) char *real = fs_real_path(c->store, e);
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
void cli_config_warn_of_readers(const struct cli_config *s, const struct config *c, const char *catalog)
{
	CLEANUP(mem_free) char *audit = audit_path(c, catalog);
	CLEANUP(mem_free) char *tokens = tokens_path(c, catalog);
	CLEANUP(mem_free) char *ours = owned_names_path(catalog);
	CLEANUP(mem_free) char *downloads = downloads_path(catalog);
	const char *const path[] = {catalog, audit, tokens, ours, downloads};
	for (size_t i = 0; i < ARRAY_SIZE(path); i++)
		warn_if_world_readable(path[i], "the names of projects and people in it");
	if (s->file && c->upstream_urls && strchr(c->upstream_urls, '@'))
		warn_if_world_readable(s->file, "the password of an upstream index in it");
}

int cli_config_audit(const struct config *c, struct audit **out, struct err *e)
{
	CLEANUP(mem_free) char *catalog = cli_config_catalog(c, e);
	CLEANUP(audit_place_release) struct audit_place place = {0};
	if (!catalog)
		return -1;
	audit_place_init(&place, c, catalog);
	return audit_open(&place, out, e);
}
