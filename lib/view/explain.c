// SPDX-License-Identifier: Apache-2.0
#include "lib/view/explain.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/arena.h"
#include "lib/domain/index/finder.h"
#include "lib/domain/index/simplepage.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-history.h"
#include "lib/state/catalog/catalog-plan.h"
#include "lib/state/store/tombstone.h"

// Whose files pip is asked about.
enum byte_source { FROM_HERE = 1, FROM_UPSTREAM = 2, FROM_BOTH = 4 };

// A file that the view shows.
struct shown {
	const char *filename, *requires_python;
	bool is_yanked;
	const struct platform *platform;
};

// What the last plan says of a file.
struct planned {
	int64_t platform;
	const char *path;
	struct jsondoc *facts; // handed over to the file's row
};

struct explaining {
	const struct explain_about *about;
	const struct view *view; // of it
	const char *project;     // the same
	struct catalog *catalog;
	const char *owner;             // why upstream's files do not count; NULL: they do
	const struct simplepage *page; // upstream's, where they do; NULL: nothing is known
	struct finder *finder;
	struct jsondoc *here;
	struct arena text;
	struct shown *shown; // by name
	size_t shown_count, shown_room;
	struct planned *planned;
	size_t planned_count, planned_room;
};

static void explaining_release(struct explaining *x)
{
	for (size_t i = 0; i < x->planned_count; i++)
		jsondoc_cleanup(&x->planned[i].facts);
	free(x->planned);
	free(x->shown);
	finder_free(x->finder);
	jsondoc_cleanup(&x->here);
	arena_release(&x->text);
}

static const char *copy(struct explaining *x, const char *s)
{
	return s ? arena_copy(&x->text, str_from(s)) : NULL;
}

static void put(struct jsondoc *out, const char *key, const char *text)
{
	if (text && *text)
		jsondoc_put_str(out, key, text);
}

static void put_time(struct jsondoc *out, const char *key, int64_t seconds)
{
	char text[CLOCK_TEXT];
	if (seconds <= 0)
		return;
	clock_write(seconds, text);
	jsondoc_put_str(out, key, text);
}

static void put_sha256(struct jsondoc *out, const uint8_t *sha256)
{
	char hex[SHA256_HEX + 1] = "";
	if (!sha256)
		return;
	hex_encode(sha256, SHA256_SIZE, hex);
	jsondoc_put_str(out, "sha256", hex);
}

static const struct platform *platform_of(const struct explaining *x, int64_t id)
{
	for (size_t i = 0; i < x->view->platform_count; i++)
		if (x->view->platform[i]->id == id)
			return x->view->platform[i];
	return NULL;
}

// Whether a file is of this project and of a version that was asked for; otherwise: where its name does not tell.
static bool is_wanted(const struct explaining *x, const char *filename, bool otherwise)
{
	struct err unsaid = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (filename_parse(str_from(filename), &name, &unsaid) < 0)
		return otherwise;
	return strcmp(name.project, x->project) == 0 && finder_wants(x->finder, &name);
}

// --- the last plan ---

static int take_planned(void *ctx, const struct catalog_planned *f, struct err *e UNUSED)
{
	struct explaining *x = ctx;
	if (!platform_of(x, f->platform))
		return 0;
	GROW(x->planned, x->planned_count, x->planned_room);
	struct jsondoc *facts = jsondoc_object();
	put(facts, "verdict", f->verdict);
	jsondoc_put_bool(facts, "removes", f->removes);
	put(facts, "why", f->why);
	put(facts, "reason", f->reason);
	put(facts, "upstream", f->upstream);
	x->planned[x->planned_count++] = (struct planned){f->platform, copy(x, f->path), facts};
	return 0;
}

static void put_plan(struct explaining *x, struct jsondoc *row, int64_t platform, const char *path)
{
	for (size_t i = 0; i < x->planned_count; i++) {
		struct planned *p = &x->planned[i];
		if (p->facts && p->platform == platform && strcmp(p->path, path) == 0)
			jsondoc_put(row, "plan", STEAL_PTR(p->facts));
	}
}

// --- what is here ---

static int by_filename(const void *a, const void *b)
{
	return strcmp(((const struct shown *)a)->filename, ((const struct shown *)b)->filename);
}

static int take_shown(void *ctx, const struct platform *platform, const struct catalog_file *f, struct err *e UNUSED)
{
	struct explaining *x = ctx;
	GROW(x->shown, x->shown_count, x->shown_room);
	x->shown[x->shown_count++] = (struct shown){
		.filename = copy(x, f->filename),
		.requires_python = copy(x, f->requires_python),
		.is_yanked = f->yanked != NULL,
		.platform = platform,
	};
	return 0;
}

static void add_shown(struct explaining *x)
{
	for (size_t i = 0; i < x->shown_count; i++) {
		const struct shown *s = &x->shown[i];
		bool is_theirs = x->page && simplepage_find(x->page, s->filename);
		finder_add(x->finder, x->project,
			&(struct finder_file){
				.filename = s->filename,
				.requires_python = s->requires_python,
				.is_yanked = s->is_yanked,
				.sources = is_theirs ? FROM_HERE : FROM_HERE | FROM_BOTH,
				.origin = s,
			});
	}
	if (x->shown_count)
		qsort(x->shown, x->shown_count, sizeof(x->shown[0]), by_filename);
}

static const struct shown *find_shown(const struct explaining *x, const char *filename)
{
	const struct shown key = {.filename = filename};
	return x->shown_count ? bsearch(&key, x->shown, x->shown_count, sizeof(key), by_filename) : NULL;
}

static struct jsondoc *new_row(const struct platform *p, const char *filename, const char *state)
{
	struct jsondoc *row = jsondoc_object();
	jsondoc_put_str(row, "platform", p->name);
	jsondoc_put_str(row, "filename", filename);
	jsondoc_put_str(row, "state", state);
	return row;
}

static const char *state_of(const struct catalog_history *f)
{
	static const char *const name[] = {
		[FILE_IS_LISTED] = "listed",
		[FILE_IS_REFUSED] = "quarantined",
		[FILE_IS_DUPLICATE] = "copy",
		[FILE_IS_UNLISTED] = "unlisted",
	};
	if (!f->has_file)
		return "removed";
	return f->yanked && f->state == FILE_IS_LISTED ? "yanked" : name[f->state];
}

static void put_removal(struct jsondoc *row, const char *text)
{
	CLEANUP(tombstone_release) struct tombstone t = {0};
	struct jsondoc *removal = jsondoc_object(), *theirs;
	tombstone_read(str_from(text), &t);
	put_time(removal, "when", t.when);
	put(removal, "by", t.by);
	put(removal, "verdict", t.verdict);
	put(removal, "run", t.run);
	if (t.upstream.filename) {
		theirs = jsondoc_object();
		put(theirs, "filename", t.upstream.filename);
		put(theirs, "url", t.upstream.url);
		jsondoc_put_bool(theirs, "identical", t.upstream.is_identical);
		jsondoc_put(removal, "upstream", theirs);
	}
	jsondoc_put(row, "removal", removal);
}

static void put_downloads(const struct explaining *x, struct jsondoc *row, const char *platform, const char *filename)
{
	struct download found;
	if (!x->about->downloads || !downloads_find(x->about->downloads, platform, filename, &found))
		return;
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_int(out, "count", (int64_t)found.count);
	put_time(out, "last", found.last);
	jsondoc_put(row, "downloads", out);
}

static int take_trace(void *ctx, const struct catalog_history *f, struct err *e UNUSED)
{
	struct explaining *x = ctx;
	const struct platform *p = platform_of(x, f->platform);
	if (!p || !is_wanted(x, f->filename, true))
		return 0;
	struct jsondoc *row = new_row(p, f->filename, state_of(f));
	const struct shown *shown = f->state == FILE_IS_LISTED ? find_shown(x, f->filename) : NULL;
	if (shown && shown->platform != p)
		jsondoc_put_str(row, "hidden-by", shown->platform->name);
	jsondoc_put_str(row, "path", f->path);
	if (f->has_file)
		jsondoc_put_int(row, "size", (int64_t)f->size);
	put_sha256(row, f->sha256);
	put(row, "requires-python", f->requires_python);
	put(row, "reason", f->reason ? f->reason : f->yanked);
	if (f->tombstone)
		put_removal(row, f->tombstone);
	put_downloads(x, row, p->name, f->filename);
	put_plan(x, row, f->platform, f->path);
	jsondoc_add(x->here, row);
	return 0;
}

static int gather_here(struct explaining *x, struct err *e)
{
	if (view_files(x->view, x->catalog, x->project, take_shown, x, e) < 0)
		return -1;
	add_shown(x);
	if (catalog_plan_project(x->catalog, x->project, take_planned, x, e) < 0)
		return -1;
	return catalog_histories(x->catalog, x->project, take_trace, x, e);
}

// --- what upstream has ---

static void add_theirs(struct explaining *x)
{
	for (size_t i = 0; x->page && i < x->page->files; i++) {
		const struct simplepage_file *f = &x->page->file[i];
		finder_add(x->finder, x->project,
			&(struct finder_file){
				.filename = f->filename,
				.requires_python = f->requires_python,
				.is_yanked = f->yanked != NULL,
				.sources = FROM_UPSTREAM | FROM_BOTH,
			});
	}
}

// Whether the view's page does not have this wheel of upstream; a name that is here too it has.
static bool is_left_out(const struct explaining *x, const struct simplepage_file *f)
{
	bool is_shown = x->about->rule != NAME_RULE_UPSTREAM && find_shown(x, f->filename);
	return x->view->merges && !is_shown && !wheel_filter_admits(&x->view->fitting, f->filename);
}

static void put_left_out(const struct explaining *x, struct jsondoc *out)
{
	int64_t count = 0;
	for (size_t i = 0; i < x->page->files; i++)
		count += is_left_out(x, &x->page->file[i]);
	if (count)
		jsondoc_put_int(out, "left-out", count);
}

static struct jsondoc *file_of_upstream(const struct explaining *x, const struct simplepage_file *f)
{
	struct jsondoc *out = jsondoc_object();
	jsondoc_put_str(out, "filename", f->filename);
	jsondoc_put_str(out, "url", f->url);
	if (f->yanked)
		jsondoc_put_str(out, "yanked", f->yanked);
	put(out, "requires-python", f->requires_python);
	put(out, "upload-time", f->upload_time);
	if (f->size >= 0)
		jsondoc_put_int(out, "size", f->size);
	put_sha256(out, f->has_sha256 ? f->sha256 : NULL);
	if (is_left_out(x, f))
		jsondoc_put_bool(out, "left-out", true);
	if (f->is_cut)
		jsondoc_put_bool(out, "cut", true);
	return out;
}

static struct jsondoc *tell_upstream(const struct explaining *x, const struct upstream_answer *answer,
	bool is_of_version)
{
	struct jsondoc *out = jsondoc_object();
	if (x->owner) {
		jsondoc_put_str(out, "result", upstream_result_name[UPSTREAM_PRIVATE]);
		jsondoc_put_str(out, "why", x->owner);
		return out;
	}
	struct jsondoc *files = is_of_version ? jsondoc_array() : NULL;
	jsondoc_put_str(out, "result", upstream_result_name[answer->result]);
	put(out, "why", answer->why);
	put(out, "index", answer->index);
	put_time(out, "asked", answer->asked);
	put_time(out, "fetched", answer->fetched);
	if (!x->page) {
		jsondoc_cleanup(&files);
		return out;
	}
	jsondoc_put_bool(out, "stale", !answer->page);
	jsondoc_put_str(out, "status", simplepage_status_name[x->page->status]);
	jsondoc_put_int(out, "files", (int64_t)x->page->files);
	put_left_out(x, out);
	for (size_t i = 0; files && i < x->page->files; i++)
		if (is_wanted(x, x->page->file[i].filename, false))
			jsondoc_add(files, file_of_upstream(x, &x->page->file[i]));
	if (files)
		jsondoc_put(out, "file", files);
	return out;
}

// --- what pip takes ---

static void put_choice(const struct explaining *x, struct jsondoc *out, const char *key, const struct environment *env,
	enum byte_source source)
{
	struct finder_choice choice;
	finder_choose(x->finder, env, source, &choice);
	if (!choice.file)
		return;
	struct jsondoc *chosen = jsondoc_object();
	jsondoc_put_str(chosen, "filename", choice.file->filename);
	jsondoc_put_str(chosen, "version", choice.version);
	jsondoc_put_str(chosen, "from", choice.file->sources & FROM_HERE ? "here" : "upstream");
	if (choice.file->is_yanked)
		jsondoc_put_bool(chosen, "yanked", true);
	if (!choice.has_all_micros)
		jsondoc_put_bool(chosen, "some-micros", true);
	jsondoc_put(out, key, chosen);
}

static void add_environment(const struct explaining *x, const struct platform *p, const struct environment *env,
	struct jsondoc *out)
{
	CLEANUP(buf_release) struct buf python;
	struct jsondoc *row = jsondoc_object();
	buf_init(&python, 64);
	python_print(&env->python, &python);
	jsondoc_put_str(row, "platform", p->name);
	jsondoc_put_str(row, "python", python.data);
	put_choice(x, row, "here", env, FROM_HERE);
	put_choice(x, row, "upstream", env, FROM_UPSTREAM);
	put_choice(x, row, "both", env, FROM_BOTH);
	jsondoc_add(out, row);
}

static struct jsondoc *tell_environments(const struct explaining *x)
{
	struct jsondoc *out = jsondoc_array();
	for (size_t i = 0; i < x->view->platform_count; i++) {
		const struct platform *p = x->view->platform[i];
		for (size_t n = 0; n < p->profile.environment_count; n++)
			add_environment(x, p, &p->profile.environment[n], out);
	}
	return out;
}

// --- whose files count ---

static const struct {
	const char *files, *why;
} by_rule[NAME_RULE_COUNT] = {
	[NAME_RULE_MERGE] = {"both", "nothing says otherwise"},
	[NAME_RULE_PRIVATE] = {"here", "[upstream] private: upstream is never asked for it"},
	[NAME_RULE_LOCAL] = {"here", "[upstream] local-only: upstream is not asked for it"},
	[NAME_RULE_UPSTREAM] = {"upstream", "[upstream] upstream-only"},
	[NAME_RULE_SHARED] = {"both", "[upstream] shared: merged, whoever had it first"},
};

// Somebody took the name meanwhile: what he has there.
static struct jsondoc *tell_taken(const struct simplepage *page, int64_t fetched)
{
	struct jsondoc *out = jsondoc_object();
	int64_t since = 0;
	for (size_t i = 0; i < page->files; i++)
		if (page->file[i].uploaded && (!since || page->file[i].uploaded < since))
			since = page->file[i].uploaded;
	jsondoc_put_int(out, "files", (int64_t)page->files);
	put_time(out, "since", since);
	put_time(out, "fetched", fetched);
	return out;
}

static struct jsondoc *tell_names(const struct explaining *x, const struct upstream_answer *answer)
{
	struct jsondoc *out = jsondoc_object();
	enum name_rule rule = x->about->rule;
	bool is_first = rule == NAME_RULE_MERGE && x->about->is_ours;
	const char *files = by_rule[rule].files, *why = by_rule[rule].why;
	if (!x->view->merges) {
		files = "here";
		why = "the view does not merge";
	} else if (is_first) {
		files = "here";
		why = "upstream did not know it when it came here; [upstream] shared would merge it";
	}
	jsondoc_put_str(out, "rule", name_rule_text[rule]);
	jsondoc_put_bool(out, "ours", x->about->is_ours);
	jsondoc_put_str(out, "files", files);
	jsondoc_put_str(out, "why", why);
	if (is_first && answer->stale)
		jsondoc_put(out, "taken", tell_taken(answer->stale, answer->fetched));
	return out;
}

// --- all of it ---

static struct jsondoc *tell(struct explaining *x, const struct upstream_answer *answer)
{
	struct jsondoc *out = jsondoc_object(), *platforms = jsondoc_array();
	jsondoc_put_str(out, "project", x->project);
	put(out, "version", x->about->version);
	put(out, "view", x->view->name);
	for (size_t i = 0; i < x->view->platform_count; i++)
		jsondoc_add_str(platforms, x->view->platform[i]->name);
	jsondoc_put(out, "platforms", platforms);
	jsondoc_put(out, "names", tell_names(x, answer));
	jsondoc_put(out, "here", STEAL_PTR(x->here));
	jsondoc_put(out, "upstream", tell_upstream(x, answer, x->about->version != NULL));
	jsondoc_put(out, "environments", tell_environments(x));
	return out;
}

struct jsondoc *explain(const struct explain_about *about, struct catalog *c, const struct upstream_answer *answer,
	struct err *e)
{
	CLEANUP(explaining_release)
	struct explaining x = {.about = about, .view = about->view, .project = about->project, .catalog = c};
	x.owner = upstream_owner(about->rule, about->is_ours, about->is_hidden && about->view->is_private);
	if (!x.owner)
		x.page = answer->page ? answer->page : answer->stale;
	x.here = jsondoc_array();
	if (finder_new(about->version, &x.finder, e) < 0)
		return NULL;
	add_theirs(&x);
	if (gather_here(&x, e) < 0)
		return NULL;
	if (jsondoc_count(x.here) || x.page)
		return tell(&x, answer);
	const char *space = about->version ? " " : "", *version = about->version ? about->version : "";
	if (x.owner)
		err_set(e, ERR_NOT_FOUND, "nothing of %s%s%s is here, and what upstream has does not count (%s)",
			about->project, space, version, x.owner);
	else
		err_set(e, ERR_NOT_FOUND, "nothing is known of %s%s%s, neither here nor upstream (%s)", about->project,
			space, version, upstream_result_name[answer->result]);
	return NULL;
}
