// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/common/command.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/state/catalog/catalog.h"
#include "lib/state/store/facts-search.h"

struct find_command {
	struct session s;
	struct facts_search search;
	bool has_search;
};

// LIBRARY[<VERSION]: *s borrows from value and the arena.
static int take_bundles(struct facts_search *s, const char *value, struct arena *arena, struct err *e)
{
	static const char *const compare[] = {"<=", ">=", "==", "<", ">"};
	size_t len = strcspn(value, "<>=");
	if (!len)
		return err_set(e, ERR_USAGE, "--bundles: no library in \"%s\"", value);
	s->pattern = arena_copy(arena, (struct str){value, len});
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

// The kind of the search is the row's `at`.
static int take_search(void *self, const struct option_row *row, const char *value, struct err *e)
{
	struct find_command *x = self;
	if (x->has_search)
		return err_set(e, ERR_USAGE, "expected one of --needs, --bundles, --sbom, --symbol and --toolchain");
	x->has_search = true;
	x->search.kind = (enum facts_search_kind)row->at;
	x->search.pattern = value;
	return row->at == FACTS_SEARCH_BUNDLES ? take_bundles(&x->search, value, &x->s.arena, e) : 0;
}

static const struct option_row options[] = {
	{"needs", '\0', "SONAME", "wheels that need this library and do not bundle it", CALL(take_search),
		.at = FACTS_SEARCH_NEEDS},
	{"bundles", '\0', "LIBRARY", "wheels that bundle it; \"openssl<3.0.15\": a version before this one",
		CALL(take_search), .at = FACTS_SEARCH_BUNDLES},
	{"sbom", '\0', "PURL", "wheels with this component in an SBOM", CALL(take_search), .at = FACTS_SEARCH_SBOM},
	{"symbol", '\0', "NAME", "wheels that export this symbol, or import it from outside", CALL(take_search),
		.at = FACTS_SEARCH_SYMBOL},
	{"toolchain", '\0', "GLOB", "wheels made with this compiler or linker", CALL(take_search),
		.at = FACTS_SEARCH_TOOLCHAIN},
};

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

static void write_find_json(const struct facts_search *s, const struct inside_result *r, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *blind = jsondoc_array();
	jsondoc_put_str(doc, "search", facts_search_name[s->kind]);
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

static void write_hit(const struct facts_search *s, const struct inside_hit *hit, struct buf *out)
{
	const char *field[] = {hit->use, hit->name, hit->version, hit->purl};
	buf_puts(out, hit->is_unknown ? "? " : "");
	escape_terminal(out, str_from(hit->platform));
	buf_putc(out, '/');
	escape_terminal(out, str_from(hit->filename));
	buf_putc(out, ':');
	for (size_t i = 0; i < ARRAY_SIZE(field); i++) {
		bool is_version = &field[i] == &field[2] && s->kind == FACTS_SEARCH_BUNDLES;
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

static int run_find(void *self, struct err *e)
{
	struct find_command *x = self;
	CLEANUP(inside_result_release) struct inside_result result = {0};
	if (!x->has_search)
		return err_set(e, ERR_USAGE, "expected --needs, --bundles, --sbom, --symbol or --toolchain");
	x->search.platform = x->s.globs.item;
	x->search.platforms = x->s.globs.count;
	if (session_open(&x->s, SESSION_READ | SESSION_CHECK, e) < 0 || facts_search(x->s.catalog, &x->search, &result, e) < 0 ||
		catalog_is_current(x->s.catalog, e) < 0)
		return -1;
	if (x->s.is_json)
		write_find_json(&x->search, &result, &x->s.out);
	for (size_t i = 0; i < result.hits && !x->s.is_json; i++)
		write_hit(&x->search, &result.hit[i], &x->s.out);
	if (x->s.out.len > LIMIT_PAGE)
		return err_set(e, ERR_LIMIT, "too many wheels: a narrower --platform finds fewer");
	if (session_print(&x->s, e) < 0)
		return -1;
	if (!x->s.is_json) {
		// What a search cannot see is said on stderr, so that the lines on stdout are wheels.
		for (size_t i = 0; i < result.blinds; i++)
			fprintf(stderr, "wheelcache: %s of %s %s%s\n", COUNTED(result.blind[i].wheels, "wheel|wheels"),
				result.blind[i].platform,
				result.blind[i].wheels == 1 ? "was not searched: the catalog has no facts of it"
							    : "were not searched: the catalog has no facts of them",
				x->s.config.takes_facts ? " (wheelcache index takes them)" : " ([index] facts is off)");
	}
	return 0;
}

const struct command command_find = {
	.name = "find",
	.arguments = "[STORE]",
	.help = "find wheels by what is inside them",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(PLATFORMS) | SHARED(JSON),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct find_command),
	.run = run_find,
};
