// SPDX-License-Identifier: Apache-2.0
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/common/command.h"
#include "cli/common/output.h"
#include "lib/advisories/advisories.h"
#include "lib/base/counted.h"
#include "lib/base/log.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/config/state-files.h"
#include "lib/state/upstream/rule-list.h"
#include "lib/view/exposure.h"
#include "lib/view/usage.h"

struct exposed_command {
	struct session s;
	const char *severity;
	bool checks;
	struct advisories *lists;
	struct rule_list *denied;
	struct downloads *downloads, *downloaders;
};

static const struct option_row options[] = {
	{"severity", '\0', "LEVEL", "only malware and vulnerabilities from this on: low, medium, high or critical",
		TEXT(exposed_command, severity)},
	{"check", '\0', NULL, "exit with 1 if there is such a file", FLAG(exposed_command, checks)},
};

// --- JSON ---

static void put_exposed_json(struct exposed_command *x, const struct exposure *found)
{
	struct jsondoc *lists = jsondoc_array();
	for (size_t i = 0; i < advisories_sources(x->lists); i++) {
		struct advisories_source source;
		advisories_source(x->lists, i, &source);
		jsondoc_add(lists, jsondoc_new("path:s records:d loaded:t error:s", source.path, source.state.records,
					   source.state.loaded, source.error));
	}
	session_json(&x->s, jsondoc_set(exposure_json(found, SIZE_MAX), "lists:j", lists));
}

// --- text ---

static const char *escaped(struct session *s, const char *text)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(SIZE_MAX / 2);
	escape_terminal(&out, str_from(text));
	return arena_copy(&s->arena, buf_view(&out));
}

static const char *date_text(struct session *s, int64_t day)
{
	char text[CLOCK_TEXT];
	usage_write_date(day, text);
	return arena_strdup(&s->arena, text);
}

static const char *why_text(struct session *s, const struct exposed_file *f)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(SIZE_MAX / 2);
	exposed_file_why(f, &out);
	return escaped(s, out.data);
}

// Where clients still find it.
static const char *views_text(struct session *s, const struct exposed_file *f)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(SIZE_MAX / 2);
	for (size_t i = 0; i < f->views; i++)
		buf_printf(&out, "%s%s", i ? " " : "", f->view[i]);
	return f->views ? escaped(s, out.data) : "-";
}

static void put_downloaders(struct session *s, const struct exposed_file *f, struct output_table *table)
{
	for (size_t i = 0; i < f->bys; i++) {
		const struct exposed_by *by = &f->by[i];
		const char *name = by->token ? by->token : by->address;
		const char *who = !name ? "  others" : arena_printf(&s->arena, "  %s %s", by->token ? "token" : "address", name);
		const char *const cell[] = {arena_printf(&s->arena, "  %" PRIu64, by->download.count),
			date_text(s, by->download.first), date_text(s, by->download.last), escaped(s, who), "", "", ""};
		output_table_add(&s->arena, table, cell);
	}
}

static void put_files(struct session *s, const struct exposure *found)
{
	static const char *const head[] = {"DOWNLOADS", "FIRST", "LAST", "FROM", "FILE", "LISTED BY", "WHY"};
	struct output_table table = {.columns = ARRAY_SIZE(head)};
	output_table_add(&s->arena, &table, head);
	for (size_t i = 0; i < found->files; i++) {
		const struct exposed_file *f = &found->file[i];
		const char *from = f->platform ? f->platform : arena_printf(&s->arena, "upstream %s", f->upstream);
		const char *const cell[] = {arena_printf(&s->arena, "%" PRIu64, f->download.count),
			date_text(s, f->download.first), date_text(s, f->download.last), escaped(s, from),
			escaped(s, f->filename), views_text(s, f), why_text(s, f)};
		output_table_add(&s->arena, &table, cell);
		put_downloaders(s, f, &table);
	}
	output_table_print(&table, &s->out);
}

static void put_exposed_text(struct exposed_command *x, const struct exposure *found)
{
	struct buf *out = &x->s.out;
	if (found->files)
		put_files(&x->s, found);
	else if (x->downloads)
		buf_printf(out, "none of %s downloaded since %s, and none of ours\n",
			COUNTED(found->downloaded, "file that was|files that were"),
			date_text(&x->s, found->since));
	else
		buf_puts(out, "none of ours, and no downloads were counted\n");
}

// --- running ---

// The lists as their files are now; a server reads them so too, some seconds later.
static int open_lists(struct exposed_command *x, struct err *e)
{
	struct session *s = &x->s;
	if (advisories_open_renewed(&s->config, s->catalog_path, &x->lists, e) < 0)
		return -1;
	return exposure_has_lists(&s->config, x->lists)
		       ? 0
		       : err_set(e, ERR_USAGE, "neither [upstream] block nor deny is set, nor [server] deny: nothing says which files are bad");
}

static int open_downloads(struct exposed_command *x, enum state_file which, struct downloads **out, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *path = state_file(&x->s.config, x->s.catalog_path, which);
	if (downloads_open(path, out, &why) == 0 || why.kind == ERR_NOT_FOUND)
		return 0;
	*e = why;
	return -1;
}

static void warn_of_views(const struct site *site)
{
	for (size_t i = site->has_no_default ? 1 : 0; i < site->view_count; i++)
		if (site_is_incomplete(site, &site->view[i]))
			log_warn("%s: what it lists is not known", site->view[i].name ? site->view[i].name : "the default view");
}

static int run_exposed(void *self, struct err *e)
{
	struct exposed_command *x = self;
	struct session *s = &x->s;
	CLEANUP(exposure_release) struct exposure found = {0};
	unsigned least = advisory_least_severity(x->severity);
	if (x->severity && !least)
		return err_set(e, ERR_USAGE, "--severity %s: expected low, medium, high or critical", x->severity);
	if (session_open(s, SESSION_VIEWS | SESSION_UPSTREAM, e) < 0 || open_lists(x, e) < 0 ||
		rule_list_open(s->config.deny, NULL, &x->denied, e) < 0 ||
		open_downloads(x, STATE_FILE_DOWNLOADS, &x->downloads, e) < 0 ||
		open_downloads(x, STATE_FILE_DOWNLOADERS, &x->downloaders, e) < 0)
		return -1;
	upstreams_use_lists(s->upstreams, x->lists);
	warn_of_views(&s->site);
	const struct exposure_query q = {.site = &s->site,
		.catalog = s->catalog,
		.upstreams = s->upstreams,
		.lists = x->lists,
		.denied = x->denied,
		.downloads = x->downloads,
		.downloaders = x->downloaders,
		.least = least};
	if (exposure_read(&q, &found, e) < 0)
		return -1;
	if (s->is_json)
		put_exposed_json(x, &found);
	else
		put_exposed_text(x, &found);
	if (found.unread)
		log_warn("of %s%s",
			COUNTED(found.unread,
				"wheel it is not known what it bundles: the catalog has no facts of it|"
				"wheels it is not known what they bundle: "
				"the catalog has no facts of them"),
			s->config.takes_facts ? " (wheelcache index takes them)" : " ([index] facts is off)");
	return x->checks && found.files ? 1 : 0;
}

static void release_exposed(void *self)
{
	struct exposed_command *x = self;
	downloads_close(x->downloads);
	downloads_close(x->downloaders);
	advisories_unref(x->lists);
	rule_list_unref(x->denied);
}

const struct command command_exposed = {
	.name = "exposed",
	.arguments = "[STORE]",
	.help = "list files that were downloaded or are listed, and that block lists or deny name",
	OPTIONS(options),
	.shared = SHARED_BASE | SHARED(JSON),
	.follow = FOLLOW_STORE,
	.size = sizeof(struct exposed_command),
	.run = run_exposed,
	.release = release_exposed,
};
