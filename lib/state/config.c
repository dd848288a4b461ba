// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/conf.h"
#include "lib/domain/platform.h"
#include "lib/state/setting.h"

static bool set_name(void *field, const char *value)
{
	return platform_name_is_valid(str_from(value)) && setting_string.set(field, value);
}

static bool add_name(struct config_view *v, struct str name)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (str_eq(name, str_from(v->platforms[i])))
			return false;
	v->platforms = xreallocarray(v->platforms, v->platform_count + 1, sizeof(*v->platforms));
	v->platforms[v->platform_count++] = xstrndup(name.ptr, name.len);
	return platform_name_is_valid(name);
}

// inih hands each line of a value over by itself, so that names are added to those that are there.
static bool set_names(void *field, const char *value)
{
	struct str rest = str_trim(str_from(value));
	if (!rest.len)
		return false;
	while (rest.len) {
		if (!add_name(field, str_cut(&rest, ' ')))
			return false;
		rest = str_trim(rest);
	}
	return true;
}

static const struct setting setting_name = {
	.wants = "the name of a platform or view", .set = set_name, .is_owned = true};
static const struct setting setting_names = {
	.wants = "a list of platforms, each once, with blanks between", .set = set_names, .is_list = true};

struct row {
	const char *section; // "platform" and "view" stand for "[platform NAME]" and "[view NAME]"
	const char *key;
	const struct setting *setting;
	size_t offset; // in struct config, config_platform or config_view; of names: the view
		       // itself
	uint64_t least;
	const char *fallback; // NULL: none
	const char *help;
};

#define ROW(section, key, setting, holder, field, least, fallback, help)                           \
	{                                                                                          \
		section, key, setting, offsetof(struct holder, field), least, fallback, help       \
	}

static const struct row table[] = {
	ROW("store", "path", &setting_path, config, store, 0, NULL,
		"The tree of wheels to index and serve."),
	ROW("store", "default-view", &setting_name, config, default_view, 0, NULL,
		"The view or platform at /simple/. Without it: the only platform, or all of them "
		"merged."),
	ROW("catalog", "path", &setting_path, config, catalog, 0, NULL,
		"The catalog, on a local disk. Without it: a file a store in the state directory."),
	ROW("upstream", "url", &setting_urls, config, upstream_urls, 0, "https://pypi.org/simple/",
		"The simple index that wheels are compared with. Several, in indented lines: what they have together, and "
		"the first one's file of a name."),
	ROW("upstream", "ca-file", &setting_path, config, upstream_ca_file, 0, NULL,
		"Certificates to trust, in PEM. Without it: the system's."),
	ROW("upstream", "timeout", &setting_seconds, config, upstream_timeout, 1, "30",
		"An answer that is not whole after so long has failed; after twice that nothing is tried again."),
	ROW("upstream", "connect-timeout", &setting_seconds, config, upstream_connect_timeout, 1, "10",
		"A connection that does not stand after so long has failed."),
	ROW("upstream", "retries", &setting_threads, config, upstream_retries, 0, "3",
		"How often a request that failed for a moment is tried again."),
	ROW("upstream", "concurrency", &setting_threads, config, upstream_concurrency, 1, "16",
		"Requests under way at once."),
	ROW("upstream", "max-page", &setting_size, config, upstream_max_page, 1, "64M",
		"A larger page is not taken."),
	ROW("upstream", "allow-hosts", &setting_hosts, config, upstream_allow_hosts, 0, NULL,
		"Hosts that it may redirect to, besides itself."),
	ROW("upstream", "allow-private", &setting_bool, config, upstream_allow_private, 0, "no",
		"Whether it may redirect to private, loopback and link-local addresses. Its own may be one either way."),
	ROW("upstream", "trust-404", &setting_bool, config, upstream_trust_404, 0, "no",
		"Whether 404 means that there is no such project; else it means nothing."),
	ROW("index", "threads", &setting_threads, config, index_threads, 0, "0",
		"Threads that read wheels; 0: as many as the machine has processors."),
	ROW("index", "settle", &setting_seconds, config, settle, 0, "60",
		"A damaged file younger than this is still being written: it waits for the next "
		"scan."),
	ROW("server", "listen", &setting_string, config, listen, 0, "127.0.0.1:8080",
		"ADDRESS:PORT, [IPV6]:PORT or unix:PATH; port 0: any free one."),
	ROW("server", "access-log", &setting_path, config, access_log, 0, NULL,
		"A line a request goes to this file; -: to the standard output. Without it: none."),
	ROW("server", "tls-cert", &setting_path, config, tls_cert, 0, NULL,
		"The server's certificate and those that lead to its authority, in PEM: HTTPS is spoken. Without it: HTTP."),
	ROW("server", "tls-key", &setting_path, config, tls_key, 0, NULL,
		"The certificate's key, in PEM."),
	ROW("server", "log-level", &setting_level, config, log_level, 0, "info",
		"What is told on the standard error: error, warn, info or debug."),
	ROW("server", "threads", &setting_threads, config, threads, 0, "0",
		"Threads that answer requests; 0: as many as the machine has processors."),
	ROW("server", "page-cache", &setting_size, config, page_cache, 0, "64M",
		"Memory for pages that are ready to be sent."),
	ROW("server", "connections", &setting_integer, config, connections, 1, "4096",
		"Open connections at most."),
	ROW("server", "timeout", &setting_seconds, config, timeout, 1, "60",
		"A connection without progress for so long is closed."),
	ROW("server", "rescan", &setting_seconds, config, rescan, 0, "60",
		"Time between scans of the store while serving; 0: only at the start and on "
		"SIGHUP."),
	ROW("server", "page-max-age", &setting_seconds, config, page_max_age, 0, "0",
		"How long clients may use a page without asking again; 0: a new wheel shows at "
		"once."),
	ROW("tokens", "path", &setting_path, config, tokens, 0, NULL,
		"The tokens' hashes, which `wheelcache token` writes. Without it: beside the catalog, "
		"with .tokens behind its name."),
	ROW("audit", "path", &setting_path, config, audit, 0, NULL,
		"A line for each change that somebody made or was refused. Without it: beside the "
		"catalog, with .audit behind its name."),
	ROW("upload", "max-file", &setting_quota, config, max_file, 1, "2G",
		"A larger file is not taken."),
	ROW("prune", "packages", &setting_path, config, prune_packages, 0, NULL,
		"The list of packages that always stay: etc/packages.list tells its form. Without it: none."),
	ROW("prune", "constraints", &setting_paths, config, prune_constraints, 0, NULL,
		"Constraints files, whose pins stay; may go on in indented lines. Without it: none."),
	ROW("prune", "min-age", &setting_seconds, config, prune_min_age, 0, "2d",
		"What is younger here stays."),
	ROW("prune", "upstream-min-age", &setting_seconds, config, prune_upstream_min_age, 0, "1d",
		"What upstream got more recently, or does not say when, replaces nothing of ours."),
	ROW("prune", "downloaded", &setting_seconds, config, prune_downloaded, 0, "0",
		"What was downloaded from here within so long stays. 0: that decides nothing."),
	ROW("prune", "grace", &setting_seconds, config, prune_grace, 0, "7d",
		"How long the bytes of what was unlisted stay."),
	ROW("prune", "max-files", &setting_percent, config, prune_max_files, 0, "20%",
		"A plan that removes more of a platform's files is not applied."),
	ROW("prune", "max-bytes", &setting_percent, config, prune_max_bytes, 0, "20%",
		"A plan that removes more of a platform's bytes is not applied."),
	ROW("prune", "max-failures", &setting_percent, config, prune_max_failures, 0, "5%",
		"A plan of which more projects could not be looked up is not applied."),
	ROW("prune", "redirect", &setting_redirect, config, prune_redirect, 0, "identical",
		"Which pruned files' URLs lead to upstream: identical, superseded (those too) or no."),
	ROW("prune", "follow-yanks", &setting_bool, config, prune_follow_yanks, 0, "yes",
		"Whether a release that upstream yanks is yanked here."),
	ROW("platform", "path", &setting_path, config_platform, path, 0, NULL,
		"Its folder, absolute or below [store] path. Without it: its name."),
	ROW("platform", "write-path", &setting_path, config_platform, write_path, 0, NULL,
		"Where uploads and marks go: what path shows only after a release. Without it: path."),
	ROW("platform", "release", &setting_release, config_platform, release, 0, NULL,
		"A command that makes path show what write-path holds, run after changes: %v is the "
		"volume, %w the write-path, %p the path. Without it: others do so."),
	ROW("platform", "volume", &setting_name, config_platform, volume, 0, NULL,
		"The volume that it is; of one volume there is one release at a time. Without it: its "
		"name."),
	ROW("platform", "release-delay", &setting_seconds, config_platform, release_delay, 0, "5",
		"So long after a change it is released, with all that came meanwhile."),
	ROW("platform", "release-timeout", &setting_seconds, config_platform, release_timeout, 1, "30m",
		"A release that takes longer is killed, and tried again later."),
	ROW("platform", "mutable", &setting_bool, config_platform, is_mutable, 0, "no",
		"Whether files may change under their name: they are served with short freshness."),
	ROW("platform", "pythons", &setting_pythons, config_platform, pythons, 0, NULL,
		"The Pythons of its machines. Without it: as built in for its name."),
	ROW("platform", "arch", &setting_arch, config_platform, arch, 0, NULL,
		"Their architecture. Without it: the last part of its name."),
	ROW("platform", "libc", &setting_libc, config_platform, libc, 0, NULL,
		"Their libc and its version. Without it: as built in for its name."),
	ROW("platform", "private", &setting_bool, config_platform, is_private, 0, "no",
		"Whether only those may see it who have a token to read it (wheelcache token add "
		"--read)."),
	ROW("platform", "quota-bytes", &setting_quota, config_platform, quota_bytes, 0, "0",
		"What its files may have together; an upload that would pass it is refused. 0: as the "
		"disk allows."),
	ROW("platform", "quota-files", &setting_count, config_platform, quota_files, 0, "0",
		"How many files it may have. 0: any number."),
	ROW("view", "platforms", &setting_names, config_view, name, 0, NULL,
		"Its platforms in the order in which they are asked; may go on in indented lines."),
};

static int check_range(const struct row *row, uint64_t n, const char *value, struct err *e)
{
	if (n >= row->least && n <= row->setting->most)
		return 0;
	return err_set(e, ERR_USAGE, "[%s] %s: %s is not between %llu and %llu", row->section,
		row->key, value, (unsigned long long)row->least,
		(unsigned long long)row->setting->most);
}

static int set_row(const struct row *row, void *object, const char *value, struct err *e)
{
	void *field = (char *)object + row->offset;
	if (!row->setting->set(field, value))
		return err_set(e, ERR_USAGE, "[%s] %s: \"%s\" is not %s", row->section, row->key,
			value, row->setting->wants);
	return row->setting->most ? check_range(row, *(uint64_t *)field, value, e) : 0;
}

static void set_defaults(const char *section, void *object)
{
	struct err e = ERR_INIT;
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].section, section) == 0 && table[i].fallback) {
			int r = set_row(&table[i], object, table[i].fallback, &e);
			assert(r == 0);
			(void)r;
		}
}

static void free_strings(const char *section, void *object)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (strcmp(table[i].section, section) == 0 && table[i].setting->is_owned)
			free(*(char **)(void *)((char *)object + table[i].offset));
}

static const char *const plain_sections[] = {"store", "catalog", "index", "server", "tokens", "audit", "upload",
	"upstream", "prune"};

void config_init(struct config *c)
{
	*c = (struct config){0};
	for (size_t i = 0; i < ARRAY_SIZE(plain_sections); i++)
		set_defaults(plain_sections[i], c);
}

void config_release(struct config *c)
{
	for (size_t i = 0; i < ARRAY_SIZE(plain_sections); i++)
		free_strings(plain_sections[i], c);
	for (size_t i = 0; i < c->platform_count; i++) {
		free_strings("platform", &c->platforms[i]);
		free(c->platforms[i].name);
	}
	for (size_t i = 0; i < c->view_count; i++) {
		for (size_t k = 0; k < c->views[i].platform_count; k++)
			free(c->views[i].platforms[k]);
		free(c->views[i].platforms);
		free(c->views[i].name);
	}
	free(c->platforms);
	free(c->views);
	*c = (struct config){0};
}

static struct config_platform *find_platform(const struct config *c, struct str name)
{
	for (size_t i = 0; i < c->platform_count; i++)
		if (str_eq(name, str_from(c->platforms[i].name)))
			return &c->platforms[i];
	return NULL;
}

static struct config_view *find_view(const struct config *c, struct str name)
{
	for (size_t i = 0; i < c->view_count; i++)
		if (str_eq(name, str_from(c->views[i].name)))
			return &c->views[i];
	return NULL;
}

static struct config_platform *add_platform(struct config *c, struct str name)
{
	c->platforms = xreallocarray(c->platforms, c->platform_count + 1, sizeof(*c->platforms));
	struct config_platform *p = &c->platforms[c->platform_count++];
	*p = (struct config_platform){.name = xstrndup(name.ptr, name.len)};
	set_defaults("platform", p);
	return p;
}

static struct config_view *add_view(struct config *c, struct str name)
{
	c->views = xreallocarray(c->views, c->view_count + 1, sizeof(*c->views));
	struct config_view *v = &c->views[c->view_count++];
	*v = (struct config_view){.name = xstrndup(name.ptr, name.len)};
	return v;
}

// A section's heading taken apart, and what its keys are written to.
struct section {
	struct str kind; // "server", "platform"
	struct str name; // of a platform or view, else empty
	void *object;
	bool is_new;
};

static int find_named(struct config *c, struct section *s, struct err *e)
{
	bool is_view = str_eq(s->kind, STR("view"));
	struct config_platform *p = find_platform(c, s->name);
	struct config_view *v = find_view(c, s->name);
	if (!platform_name_is_valid(s->name))
		return err_set(e, ERR_USAGE, "[" STR_FMT " " STR_FMT "]: not a name",
			STR_ARG(s->kind), STR_ARG(s->name));
	if (is_view ? p != NULL : v != NULL)
		return err_set(e, ERR_USAGE, "\"" STR_FMT "\" names both a platform and a view",
			STR_ARG(s->name));
	s->is_new = !p && !v;
	if (is_view)
		s->object = v ? v : add_view(c, s->name);
	else
		s->object = p ? p : add_platform(c, s->name);
	return 0;
}

static int find_section(struct config *c, const char *heading, struct section *s, struct err *e)
{
	struct str rest = str_from(heading);
	*s = (struct section){.object = c};
	s->kind = str_cut(&rest, ' ');
	s->name = str_trim(rest);
	if (str_eq(s->kind, STR("platform")) || str_eq(s->kind, STR("view")))
		return find_named(c, s, e);
	for (size_t i = 0; i < ARRAY_SIZE(plain_sections); i++)
		if (strcmp(heading, plain_sections[i]) == 0)
			return 0;
	if (!*heading)
		return err_set(e, ERR_USAGE, "a key before the first [section]");
	return err_set(e, ERR_USAGE, "there is no section [%s]", heading);
}

static const struct row *find_row(struct str section, const char *key, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (str_eq(section, str_from(table[i].section)) && strcmp(table[i].key, key) == 0)
			return &table[i];
	err_set(e, ERR_USAGE, "[" STR_FMT "] has no key \"%s\"", STR_ARG(section), key);
	return NULL;
}

// What a list holds by default goes when it is given.
static void begin_list(const struct row *row, void *object)
{
	char **field = (void *)((char *)object + row->offset);
	if (!row->setting->is_list || !row->setting->is_owned)
		return;
	free(*field);
	*field = NULL;
}

int config_set(
	struct config *c, const char *section, const char *key, const char *value, struct err *e)
{
	struct section s;
	if (find_section(c, section, &s, e) < 0)
		return -1;
	const struct row *row = find_row(s.kind, key, e);
	if (!row)
		return -1;
	begin_list(row, s.object);
	return set_row(row, s.object, value, e);
}

struct reading {
	struct config *config;
	bool seen[ARRAY_SIZE(table)];
};

static void forget(struct reading *r, struct str section)
{
	for (size_t i = 0; i < ARRAY_SIZE(table); i++)
		if (str_eq(section, str_from(table[i].section)))
			r->seen[i] = false;
}

static int begin_section(struct reading *r, const char *heading, struct err *e)
{
	struct section s;
	if (find_section(r->config, heading, &s, e) < 0)
		return -1;
	if (s.name.len && !s.is_new)
		return err_set(e, ERR_USAGE, "[%s] is there twice", heading);
	if (s.name.len)
		forget(r, s.kind);
	return 0;
}

// A value that goes on in an indented line comes as its key once more: right for lists, and else
// what somebody gets who indents the lines of a section.
static int on_line(
	void *ctx, const char *heading, const char *key, const char *value, struct err *e)
{
	struct reading *r = ctx;
	struct section s;
	if (!key)
		return begin_section(r, heading, e);
	if (find_section(r->config, heading, &s, e) < 0)
		return -1;
	const struct row *row = find_row(s.kind, key, e);
	if (!row)
		return -1;
	bool *seen = &r->seen[row - table];
	if (*seen && !row->setting->is_list)
		return err_set(e, ERR_USAGE, "[%s] %s is there twice (or this line is indented)",
			heading, key);
	if (!*seen)
		begin_list(row, s.object);
	*seen = true;
	return set_row(row, s.object, value, e);
}

// A second look, when all platforms are known in whatever order they stand. Without any in the
// file, the store's folders tell, later.
static int check_line(
	void *ctx, const char *heading, const char *key, const char *value, struct err *e)
{
	const struct config *c = ctx;
	if (!key || strncmp(heading, "view ", strlen("view ")) != 0)
		return 0;
	struct str rest = str_from(value);
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		if (!find_platform(c, name))
			return err_set(e, ERR_USAGE,
				"[%s] names \"" STR_FMT "\", which is no [platform]", heading,
				STR_ARG(name));
		rest = str_trim(rest);
	}
	return 0;
}

int config_profile(const struct config_platform *p, struct profile *out, struct err *e)
{
	const struct profile_keys keys = {p->pythons, p->arch, p->libc};
	if (profile_init(out, p->name, &keys, e) == 0)
		return 0;
	e->kind = ERR_USAGE;
	return err_prefix(e, "[platform %s] ", p->name);
}

// Each value is sound when its line was read; this is whether they are enough.
static int check_profiles(const struct config *c, struct err *e)
{
	for (size_t i = 0; i < c->platform_count; i++) {
		CLEANUP(profile_release) struct profile ignored;
		if (config_profile(&c->platforms[i], &ignored, e) < 0)
			return -1;
	}
	return 0;
}

int config_read(struct config *c, const char *path, struct err *e)
{
	struct reading r = {.config = c};
	if (conf_read_file(path, on_line, &r, e) < 0)
		return -1;
	for (size_t i = 0; i < c->view_count; i++)
		if (!c->views[i].platform_count)
			return err_set(e, ERR_USAGE, "%s: [view %s] has no platforms", path,
				c->views[i].name);
	if (check_profiles(c, e) < 0)
		return err_prefix(e, "%s: ", path);
	return c->platform_count ? conf_read_file(path, check_line, c, e) : 0;
}

void config_print(FILE *out)
{
	const char *section = "";
	for (size_t i = 0; i < ARRAY_SIZE(table); i++) {
		const struct row *row = &table[i];
		bool is_named =
			strcmp(row->section, "platform") == 0 || strcmp(row->section, "view") == 0;
		if (strcmp(section, row->section) != 0)
			fprintf(out, "%s%s[%s%s]\n", i ? "\n" : "", is_named ? "#" : "",
				row->section, is_named ? " NAME" : "");
		section = row->section;
		fprintf(out, "# %s\n%s%s = %s\n", row->help, is_named || !row->fallback ? "#" : "",
			row->key, row->fallback ? row->fallback : "");
	}
}
