// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/inside-search.h"

static const struct option_row options[] = {
	{"needs", '\0', "SONAME", "wheels that need this library and do not bundle it", NO_KEY},
	{"bundles", '\0', "LIBRARY", "wheels that bundle it; \"openssl<3.0.15\": a version before this one", NO_KEY},
	{"sbom", '\0', "PURL", "wheels with this component in an SBOM", NO_KEY},
	{"symbol", '\0', "NAME", "wheels that export this symbol, or import it from outside", NO_KEY},
	{"toolchain", '\0', "GLOB", "wheels made with this compiler or linker", NO_KEY},
};

struct find_command {
	struct cli_config settings;
	struct config config;
	struct command_words globs; // of --platform
	struct inside_search search;
	bool has_search;
	char *library; // of --bundles, without the version
};

// LIBRARY[<VERSION]: *s borrows from value, and from *library, which the caller frees.
static int take_bundles(struct inside_search *s, const char *value, char **library, struct err *e)
{
	static const char *const compare[] = {"<=", ">=", "==", "<", ">"};
	size_t len = strcspn(value, "<>=");
	if (!len)
		return err_set(e, ERR_USAGE, "--bundles: no library in \"%s\"", value);
	s->pattern = *library = xstrndup(value, len);
	if (!value[len])
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(compare); i++)
		if (strncmp(value + len, compare[i], strlen(compare[i])) == 0) {
			s->compare = compare[i];
			s->version = value + len + strlen(compare[i]);
			break;
		}
	if (!s->compare || !*s->version || strpbrk(s->version, "<>=, "))
		return err_set(e, ERR_USAGE,
			"--bundles: \"%s\" is not LIBRARY, or LIBRARY and one of < <= == >= > and "
			"a version",
			value);
	return 0;
}

static int take_search(struct find_command *x, enum inside_search_kind kind, const char *value, struct err *e)
{
	if (x->has_search)
		return err_set(e, ERR_USAGE, "expected one of --needs, --bundles, --sbom, --symbol and --toolchain");
	x->has_search = true;
	x->search.kind = kind;
	x->search.pattern = value;
	return kind == INSIDE_SEARCH_BUNDLES ? take_bundles(&x->search, value, &x->library, e) : 0;
}

static int take_find_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct find_command *x = ctx;
	for (int kind = 0; kind < INSIDE_SEARCH_KINDS; kind++)
		if (strcmp(name, inside_search_name[kind]) == 0)
			return take_search(x, (enum inside_search_kind)kind, value, e);
	return command_take_platforms(&x->globs, name, value, e);
}

// --- what is printed ---

static struct jsondoc *hits_json(const struct inside_result *r, bool unknown)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t i = 0; i < r->hits; i++) {
		const struct inside_hit *hit = &r->hit[i];
		if (hit->is_unknown != unknown)
			continue;
		struct jsondoc *item = jsondoc_object();
		jsondoc_put_str(item, "platform", hit->platform);
		jsondoc_put_str(item, "project", hit->project);
		jsondoc_put_str(item, "filename", hit->filename);
		jsondoc_put_str(item, "path", hit->path);
		jsondoc_put_str(item, "sha256", hit->sha256);
		jsondoc_put_str(item, "name", hit->name);
		jsondoc_put_str(item, "version", hit->version);
		jsondoc_put_str(item, "purl", hit->purl);
		jsondoc_put_str(item, "library", hit->library);
		jsondoc_put_str(item, "matched", hit->matched);
		jsondoc_put_str(item, "use", hit->use);
		jsondoc_add(all, item);
	}
	return all;
}

static void write_find_json(const struct inside_search *s, const struct inside_result *r, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *blind = jsondoc_array();
	jsondoc_put_str(doc, "search", inside_search_name[s->kind]);
	jsondoc_put_str(doc, "pattern", s->pattern);
	jsondoc_put_str(doc, "compare", s->compare);
	jsondoc_put_str(doc, "version", s->version);
	jsondoc_put(doc, "found", hits_json(r, false));
	jsondoc_put(doc, "version_unknown", hits_json(r, true));
	for (size_t i = 0; i < r->blinds; i++) {
		struct jsondoc *item = jsondoc_object();
		jsondoc_put_str(item, "platform", r->blind[i].platform);
		jsondoc_put_int(item, "wheels", (int64_t)r->blind[i].wheels);
		jsondoc_add(blind, item);
	}
	jsondoc_put(doc, "without_facts", blind);
	jsondoc_write(doc, 2, out);
}

static void write_hit(const struct inside_search *s, const struct inside_hit *hit, struct buf *out)
{
	const char *field[] = {hit->use, hit->name, hit->version, hit->purl};
	buf_puts(out, hit->is_unknown ? "? " : "");
	escape_terminal(out, str_from(hit->platform));
	buf_putc(out, '/');
	escape_terminal(out, str_from(hit->filename));
	buf_putc(out, ':');
	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		bool is_version = &field[i] == &field[2] && s->kind == INSIDE_SEARCH_BUNDLES;
		if (!field[i] && !is_version)
			continue;
		buf_putc(out, ' ');
		escape_terminal(out, str_from(field[i] ? field[i] : "?"));
	}
	if (hit->matched && strcasecmp(hit->matched, hit->name) != 0) {
		buf_puts(out, " (as ");
		escape_terminal(out, str_from(hit->matched));
		buf_putc(out, ')');
	}
	buf_putc(out, '\n');
}

static void write_find_text(const struct inside_search *s, const struct inside_result *r, struct buf *out)
{
	for (size_t i = 0; i < r->hits; i++)
		write_hit(s, &r->hit[i], out);
}

// What a search cannot see is said on stderr, so that the lines on stdout are wheels.
static void warn_of_blinds(const struct find_command *x, const struct inside_result *r)
{
	for (size_t i = 0; i < r->blinds; i++)
		fprintf(stderr,
			"wheelcache: %" PRIu64 " wheels of %s were not searched: the catalog has no facts of them%s\n",
			r->blind[i].wheels, r->blind[i].platform,
			x->config.takes_facts ? " (wheelcache index takes them)" : " ([index] audit is off)");
}

static int print_found(const struct find_command *x, const struct inside_result *r, struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	(x->settings.is_json ? write_find_json : write_find_text)(&x->search, r, &out);
	if (out.failed)
		return err_set(e, ERR_LIMIT, "too many wheels: a narrower --platform finds fewer");
	if (fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	if (!x->settings.is_json)
		warn_of_blinds(x, r);
	return 0;
}

static int find_in_catalog(struct find_command *x, struct err *e)
{
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(inside_result_release) struct inside_result result = {0};
	if (cli_config_read(&x->settings, &x->config, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&x->config, e);
	if (!path || catalog_open_read(path, &catalog, e) < 0 || inside_search(catalog, &x->search, &result, e) < 0 ||
		catalog_is_current(catalog, e) < 0)
		return -1;
	return print_found(x, &result, e);
}

static int take_find_line(struct find_command *x, const struct command *self, int argc, char **argv, struct err *e)
{
	if (cli_config_take_line(&x->settings, self, argc, argv, take_find_option, x, e) < 0)
		return -1;
	if (!x->has_search)
		return err_set(e, ERR_USAGE, "expected --needs, --bundles, --sbom, --symbol or --toolchain");
	x->search.platform = x->globs.item;
	x->search.platforms = x->globs.count;
	return 0;
}

static void find_command_release(struct find_command *x)
{
	config_release(&x->config);
	command_words_release(&x->globs);
	free(x->library);
}

static int run_find(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(find_command_release) struct find_command x = {0};
	config_init(&x.config);
	bool is_done = take_find_line(&x, self, argc, argv, e) == 0 && find_in_catalog(&x, e) == 0;
	return is_done ? 0 : err_exit_code(e->kind);
}

const struct command command_find = {
	.name = "find",
	.arguments = "[STORE]",
	.help = "find wheels by what is inside them",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(JSON),
	.run = run_find,
};
