// SPDX-License-Identifier: Apache-2.0
// Mirrors to order (lib/state/upstream/mirror.h): mirror plan, fill, list, end.
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "builder/missing/mirror-plan.h"
#include "cli/common/command.h"
#include "cli/common/output.h"
#include "cli/common/progress.h"
#include "cli/locked-output.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"
#include "lib/state/config/state-files.h"
#include "lib/state/store/retired.h"
#include "lib/state/upstream/file-cache.h"
#include "lib/state/upstream/mirror-lacks.h"
#include "lib/state/upstream/mirror-pages.h"
#include "lib/state/upstream/mirror-pins.h"

struct mirror_command {
	struct session s;
	struct session_list locks, requirements, top;
	uint64_t versions;
	bool is_exact, fills, wants_builds;
	struct mirror_plan plan;
	struct progress progress;
};

static int take_mirror_name(struct mirror_command *x, const char **name, struct err *e)
{
	if (x->s.words != 1)
		return err_set(e, ERR_USAGE, "expected one NAME: of a mirror");
	*name = x->s.word[0];
	if (mirror_name_is_valid(str_from(*name)))
		return 0;
	return err_set(e, ERR_USAGE, "\"%s\" is no name of a mirror: letters, digits, and . _ - between them", *name);
}

// The change is made first: a line of one that failed says so.
static int log_mirror(struct session *s, const char *action, const char *words, int result, struct err *e)
{
	struct err unwritten = ERR_INIT;
	const struct audit_entry entry = {.who = session_account(s),
		.action = action,
		.result = result < 0 ? "failed" : "done",
		.reason = result < 0 ? e->msg : words};
	int written = audit_write(s->audit, &entry, result < 0 ? &unwritten : e);
	return result < 0 || written < 0 ? -1 : 0;
}

// --- plan and fill ---

static void progress_of_files(void *ctx, const struct mirror_rest *done, const struct mirror_rest *all)
{
	progress_push(ctx, done->files, all->files, done->bytes, all->bytes);
}

static int make_plan(struct mirror_command *x, struct err *e)
{
	struct session *s = &x->s;
	const struct missing_options options = {.is_offline = s->is_offline,
		.platform = s->globs.item,
		.platforms = s->globs.count,
		.progress = progress_look,
		.ctx = &x->progress};
	retired_look(&s->store);
	progress_begin(&x->progress, !s->is_quiet);
	const struct mirror_sources sources = {.locks = {x->locks.item, x->locks.count},
		.requirements = {x->requirements.item, x->requirements.count},
		.top = {x->top.item, x->top.count},
		.versions = x->versions ? x->versions : 1,
		.wants_builds = x->wants_builds};
	int result = mirror_plan_make(&s->config, &s->store, s->catalog, &sources, &options, &x->plan, e);
	progress_end(&x->progress);
	return result;
}

static void put_size(const struct mirror_rest *rest, struct buf *out)
{
	char bytes[PROGRESS_TEXT];
	progress_bytes((double)rest->bytes, bytes);
	buf_printf(out, "%s, %s", COUNTED(rest->files, "file|files"), bytes);
	if (rest->unsized)
		buf_printf(out, " and %" PRIu64 " of unknown size", rest->unsized);
}

struct licensed {
	const char *licence, *project;
};

static int compare_licensed(const void *a, const void *b)
{
	const struct licensed *x = a, *y = b;
	int order = strcmp(x->licence, y->licence);
	return order ? order : strcmp(x->project, y->project);
}

// A line for each licence, with its projects.
static void put_licences(struct mirror_command *x)
{
	struct session *s = &x->s;
	struct licensed *all = ARENA_NEW(&s->arena, struct licensed, x->plan.wants);
	CLEANUP(buf_release) struct buf line = buf_up_to(SIZE_MAX / 2);
	for (size_t i = 0; i < x->plan.wants; i++)
		all[i] = (struct licensed){x->plan.licence[i] ? x->plan.licence[i] : "not known", x->plan.want[i].project};
	qsort(all, x->plan.wants, sizeof(*all), compare_licensed);
	for (size_t i = 0; i < x->plan.wants; i++) {
		bool begins = !i || strcmp(all[i].licence, all[i - 1].licence) != 0;
		if (begins && line.len)
			escape_terminal_line(&s->out, "%s", line.data);
		if (begins)
			buf_clear(&line);
		if (begins || strcmp(all[i].project, all[i - 1].project) != 0)
			buf_printf(&line, "%s%s%s%s", begins ? "licence " : "", begins ? all[i].licence : "",
				begins ? ": " : ", ", all[i].project);
	}
	if (line.len)
		escape_terminal_line(&s->out, "%s", line.data);
}

static void put_plan(struct mirror_command *x, const struct mirror_rest *rest, const struct mirror_rest *done)
{
	struct session *s = &x->s;
	locked_output_table(&x->plan.found, false, &s->out);
	put_licences(x);
	for (size_t i = 0; i < x->plan.wants; i++)
		if (x->plan.want[i].failure)
			escape_terminal_line(&s->out, "  failed       %s: %s", x->plan.want[i].filename,
				x->plan.want[i].failure);
	buf_printf(&s->out, "mirror %s: ", s->word[0]);
	if (done)
		put_size(done, &s->out);
	else
		put_size(rest, &s->out);
	buf_printf(&s->out, " %s; it has %s\n",
		!done              ? "would be fetched"
		: done->files == 1 ? "was fetched"
				   : "were fetched",
		COUNTED(x->plan.wants, "file|files"));
}

static void put_plan_json(struct mirror_command *x, const struct mirror_rest *rest, const struct mirror_rest *done)
{
	struct session *s = &x->s;
	struct jsondoc *rows = jsondoc_array();
	for (size_t i = 0; i < x->plan.wants; i++) {
		const struct mirror_want *w = &x->plan.want[i];
		struct jsondoc *row = jsondoc_new("upstream:s project:s filename:s kept:b failure:s licence:s",
			s->config.upstreams.item[w->upstream].name, w->project, w->filename, w->is_kept, w->failure,
			x->plan.licence[i]);
		jsondoc_put_sha256(row, "sha256", w->sha256);
		if (w->size >= 0)
			jsondoc_put_int(row, "size", w->size);
		jsondoc_add(rows, row);
	}
	CLEANUP(jsondoc_cleanup)
	struct jsondoc *doc = jsondoc_new("mirror:s missing-files:d missing-bytes:d unsized:d "
					  "fetched-files:d fetched-bytes:d files:j",
		s->word[0], (int64_t)rest->files, (int64_t)rest->bytes, (int64_t)rest->unsized,
		(int64_t)(done ? done->files : 0), (int64_t)(done ? done->bytes : 0), rows);
	buf_puts(&s->out, "{\"plan\": ");
	jsondoc_write(doc, 2, &s->out);
	buf_puts(&s->out, ", \"locks\": ");
	locked_output_json(&x->plan.found, &s->out);
	buf_puts(&s->out, "}\n");
}

static bool is_lacking(const struct mirror_command *x)
{
	for (size_t i = 0; i < x->plan.wants; i++)
		if (x->plan.want[i].failure)
			return true;
	return locked_output_fails(&x->plan.found);
}

static int open_for_plan(struct mirror_command *x, struct err *e)
{
	struct session *s = &x->s;
	const char *name = NULL;
	unsigned needs = SESSION_STORE | SESSION_FIND | (s->is_offline ? SESSION_READ : SESSION_MAKE);
	if (take_mirror_name(x, &name, e) < 0)
		return -1;
	if (!x->locks.count && !x->requirements.count && !x->top.count)
		return err_set(e, ERR_USAGE, "--lock, --requirements or --top FILE is missing: what the mirror is for");
	if (x->versions && !x->top.count)
		return err_set(e, ERR_USAGE, "--versions is for --top");
	if (x->versions > LIMIT_MIRROR_VERSIONS)
		return err_set(e, ERR_USAGE, "--versions: at most %d", LIMIT_MIRROR_VERSIONS);
	if (session_open(s, needs | (x->fills ? SESSION_AUDIT : 0), e) < 0)
		return -1;
	if (x->fills && s->config.upstream_offline)
		return err_set(e, ERR_USAGE, "[upstream] offline = yes: no upstream is asked, so nothing is fetched");
	return 0;
}

static int fill_mirror(struct mirror_command *x, const struct mirror_filling *filling, struct mirror_rest *done,
	struct err *e)
{
	struct session *s = &x->s;
	progress_begin(&x->progress, !s->is_quiet);
	int filled = mirror_fill_run(filling, done, e);
	progress_end(&x->progress);
	const char *words = arena_printf(&s->arena, "%s: %s", filling->name, COUNTED(done->files, "file|files"));
	return log_mirror(s, "mirror fill", words, filled, e);
}

static int run_plan_or_fill(void *self, struct err *e)
{
	struct mirror_command *x = self;
	struct session *s = &x->s;
	struct mirror_rest rest, done = {0};
	if (open_for_plan(x, e) < 0 || make_plan(x, e) < 0)
		return -1;
	const struct mirror_filling filling = {.config = &s->config,
		.upstreams = x->plan.upstreams,
		.catalog = s->catalog,
		.name = s->word[0],
		.who = session_account(s),
		.is_exact = x->is_exact,
		.want = x->plan.want,
		.wants = x->plan.wants,
		.progress = progress_of_files,
		.ctx = &x->progress,
		.text = &x->plan.text};
	if (mirror_fill_plan(&filling, &rest, e) < 0 || (x->fills && fill_mirror(x, &filling, &done, e) < 0))
		return -1;
	if (s->is_json)
		put_plan_json(x, &rest, x->fills ? &done : NULL);
	else
		put_plan(x, &rest, x->fills ? &done : NULL);
	return is_lacking(x) ? 1 : 0;
}

static void begin_fill(void *self)
{
	((struct mirror_command *)self)->fills = true;
}

static void release_mirror(void *self)
{
	mirror_plan_release(&((struct mirror_command *)self)->plan);
}

// clang-format off
#define SOURCES                                                                                                        \
	{"lock", '\0', "FILE...", "what these lock files name", LIST(mirror_command, locks)},                          \
	{"requirements", 'r', "FILE...", "what these requirements bring along, each file by itself",                   \
		LIST(mirror_command, requirements)},                                                                   \
	{"top", '\0', "FILE...", "the newest versions of the projects that these files name", LIST(mirror_command, top)}, \
	{"versions", '\0', "N", "how many versions of each of them (default 1)", COUNT(mirror_command, versions)},     \
	{"build-requires", '\0', NULL, "also what sdists require to be built", FLAG(mirror_command, wants_builds)}
// clang-format on
static const struct option_row plan_options[] = {SOURCES};
static const struct option_row fill_options[] = {
	SOURCES,
	{"exact", '\0', NULL, "what these files do not lead to is not kept any longer", FLAG(mirror_command, is_exact)},
};

static const struct command command_mirror_plan = {
	.name = "mirror plan",
	.arguments = "NAME",
	.help = "print what a mirror would fetch from upstream",
	OPTIONS(plan_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(OFFLINE) | SHARED(UPSTREAM_URL) |
		SHARED(JSON) |
		  SHARED(QUIET),
	.size = sizeof(struct mirror_command),
	.run = run_plan_or_fill,
	.release = release_mirror,
};

static const struct command command_mirror_fill = {
	.name = "mirror fill",
	.arguments = "NAME",
	.help = "fetch what locks or requirements need of upstream, and keep it",
	OPTIONS(fill_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(PLATFORMS) | SHARED(UPSTREAM_URL) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct mirror_command),
	.begin = begin_fill,
	.run = run_plan_or_fill,
	.release = release_mirror,
};

// --- list ---

struct mirror_listing {
	struct session *session;
	struct output_table table;
	bool is_lacking;
};

static const char *text_of_size(struct session *s, uint64_t bytes)
{
	char text[PROGRESS_TEXT];
	progress_bytes((double)bytes, text);
	return arena_copy(&s->arena, str_from(text));
}

static int list_mirror(void *ctx, const struct mirror *m, struct err *e)
{
	struct mirror_listing *l = ctx;
	struct session *s = l->session;
	char changed[CLOCK_TEXT];
	CLEANUP(mirror_lacks_release) struct mirror_lacks found = {0};
	CLEANUP(buf_release) struct buf words = buf_up_to(SIZE_MAX / 2);
	if (mirror_lacks_look(&s->config, s->catalog_path, s->upstreams, s->catalog, m, &found, e) < 0)
		return -1;
	l->is_lacking |= found.first != NULL;
	if (s->rows) {
		jsondoc_add(s->rows, jsondoc_new("mirror:s by:s made:t changed:t projects:d files:d bytes:d gone:d "
						 "unlisted:d first:s",
					     m->name, m->who, m->made, m->changed, (int64_t)found.projects,
					     (int64_t)found.files, (int64_t)found.bytes, (int64_t)found.gone,
					     (int64_t)found.unlisted, found.first));
		return 0;
	}
	clock_write(m->changed, changed);
	if (found.first)
		mirror_lacks_words(&found, &words);
	const char *const cell[] = {arena_strdup(&s->arena, m->name), arena_printf(&s->arena, "%" PRIu64,
		found.projects),
		arena_printf(&s->arena, "%" PRIu64, found.files), text_of_size(s, found.bytes),
		arena_copy(&s->arena, str_from(changed)), arena_strdup(&s->arena, m->who),
		found.first ? arena_copy(&s->arena, buf_view(&words)) : "nothing"};
	output_table_add(&s->arena, &l->table, cell);
	return 0;
}

static int run_mirror_list(void *self, struct err *e)
{
	static const char *const head[] = {"MIRROR", "PROJECTS", "FILES", "BYTES", "CHANGED", "BY", "LACKS"};
	struct mirror_command *x = self;
	struct session *s = &x->s;
	struct mirror_listing l = {.session = s, .table = {.columns = ARRAY_SIZE(head)}};
	if (s->words)
		return err_set(e, ERR_USAGE, "%s: mirror list takes no word", s->word[0]);
	if (session_open(s, SESSION_READ | SESSION_CHECK | SESSION_UPSTREAM, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = state_file(&s->config, s->catalog_path, STATE_FILE_MIRRORS);
	output_table_add(&s->arena, &l.table, head);
	if (mirror_each(folder, list_mirror, &l, e) < 0)
		return -1;
	if (s->is_json)
		session_json_rows(s, jsondoc_object(), "mirrors");
	else if (l.table.count > ARRAY_SIZE(head))
		output_table_print(&l.table, &s->out);
	else
		buf_puts(&s->out, "no mirrors\n");
	return l.is_lacking ? 1 : 0;
}

static const struct command command_mirror_list = {
	.name = "mirror list",
	.help = "list mirrors, and what they lack",
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(JSON),
	.size = sizeof(struct mirror_command),
	.run = run_mirror_list,
};

// --- end ---

// Its files stay, as others that clients asked for, while [upstream] files-size has room.
static int bound_caches(struct session *s, const char *folder, struct err *e)
{
	struct mirror_pins *pins = mirror_pins_new(folder);
	int result = 0;
	for (size_t i = 0; i < s->config.upstreams.count && result == 0; i++) {
		const struct config_upstream *u = &s->config.upstreams.item[i];
		CLEANUP(file_cache_cleanup) struct file_cache *cache = NULL;
		CLEANUP(mem_free) char *path = state_file_upstream(u, s->catalog_path);
		result = file_cache_open(path, u->files_size, pins, &cache, e);
	}
	result = result < 0 ? -1 : mirror_pages_sweep(folder, pins, e);
	mirror_pins_free(pins);
	return result;
}

static int run_mirror_end(void *self, struct err *e)
{
	struct mirror_command *x = self;
	struct session *s = &x->s;
	const char *name = NULL;
	if (take_mirror_name(x, &name, e) < 0 || session_read(s, &s->config, e) < 0 || session_locate(s, true, e) < 0 ||
		session_audit(s, e) < 0)
		return -1;
	CLEANUP(mem_free) char *folder = state_file(&s->config, s->catalog_path, STATE_FILE_MIRRORS);
	int ended = mirror_end(folder, name, e);
	if (ended == 0)
		return err_set(e, ERR_NOT_FOUND, "there is no mirror %s; wheelcache mirror list names them", name);
	if (log_mirror(s, "mirror end", name, ended, e) < 0 || bound_caches(s, folder, e) < 0)
		return -1;
	buf_printf(&s->out, "mirror %s has ended: its files are kept like others of upstream\n", name);
	return 0;
}

static const struct command command_mirror_end = {
	.name = "mirror end",
	.arguments = "NAME",
	.help = "end a mirror: its files are kept no longer than others of upstream",
	.shared = SHARED_BASE | SHARED(STORE),
	.size = sizeof(struct mirror_command),
	.run = run_mirror_end,
};

static const struct command *const mirror_rows[] = {
	&command_mirror_plan, &command_mirror_fill, &command_mirror_list, &command_mirror_end, NULL};

const struct command command_mirror = {
	.name = "mirror",
	.help = "keep what locks or requirements need of upstream: plan, fill, list, end",
	.rows = mirror_rows,
};
