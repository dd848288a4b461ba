// SPDX-License-Identifier: Apache-2.0
#include "promoter/view-channel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-file.h"
#include "lib/state/catalog/catalog-view.h"
#include "lib/state/upstream/name-owner.h"

enum {
	QUIET_DAYS = 3653, // ten years; if no file of the store came for so long, the clock cannot be right
	DAY_SECONDS = 86400,
	MOST_TEXTS = 10000, // tag sets that are kept between projects
};

// Each environment counts four times: for wheels that install on every micro version of its Python, for wheels that
// install on some, and for files of any kind. So a wheel stays although a newer sdist, or a wheel for some micro
// versions, is there; and for files of any kind of its own platform, because /VIEW/PLATFORM/simple/ has no others.
enum view_channel_way { WAY_EVERY_MICRO, WAY_WHEEL, WAY_ANY, WAY_OWN, WAY_COUNT };

// When the members of a view came into it: the times of the generations that added them.
struct promoted_times {
	struct promoted_generation {
		int64_t number, made;
	} *generation; // the newest first
	size_t generations, generation_room;
	struct promoted_file {
		int64_t platform, made;
		const char *filename;
	} *file; // of the project, by file name and platform
	size_t files, file_room;
	struct arena of_project;
};

struct view_channel {
	const struct site *site;
	const struct view *view;
	struct catalog *catalog;
	struct retention_rules rules;
	int64_t now;
	bool looks_at_disk;
	struct fits fits; // its places: the environments of the view's platforms
	struct kept_versions *kept; // NULL: nothing is wanted
	const char *membership;     // the view that has it; NULL: none has
	struct promoted_times promoted;
	struct arena text;
};

const char *const view_channel_state_name[VIEW_CHANNEL_STATE_COUNT] = {
	[VIEW_CHANNEL_CURRENT] = "current",
	[VIEW_CHANNEL_EMPTY] = "empty",
	[VIEW_CHANNEL_BEHIND] = "behind",
	[VIEW_CHANNEL_STALE] = "stale",
};

const char *const view_channel_decision_name[] = {
	[RETENTION_NO_RULE] = "no-rule",
	[RETENTION_NEWEST] = "newest",
	[RETENTION_YOUNG] = "young",
	[RETENTION_UNDATED] = "undated",
	[RETENTION_LAST] = "last",
	[RETENTION_WANTED] = "wanted",
	[RETENTION_ENDS] = "ends",
};

// --- the view ---

static int add_generation(void *ctx, const struct catalog_generation *g, struct err *e UNUSED)
{
	struct view_channel *c = ctx;
	struct promoted_times *t = &c->promoted;
	ARENA_GROW(&c->text, t->generation, t->generations, t->generation_room);
	t->generation[t->generations++] = (struct promoted_generation){g->number, g->made};
	return 0;
}

int view_channel_open(const struct site *site, const struct view *v, struct catalog *c, int64_t now,
	struct view_channel **out, struct err *e)
{
	const struct config_view *own = v->name ? config_view(&site->config, v->name) : NULL;
	if (!own)
		return config_refuse_view(&site->config, v->name ? v->name : "", ERR_USAGE, e);
	CLEANUP(view_channel_cleanup) struct view_channel *new = xcalloc(1, sizeof(*new));
	*new = (struct view_channel){.site = site, .view = v, .catalog = c, .now = now};
	new->rules =
		(struct retention_rules){own->keep_versions, (int64_t)own->keep_seconds, (int64_t)own->warn_seconds};
	for (size_t i = 0; i < v->platform_count; i++)
		fits_add_platform(&new->fits, v->platform[i]);
	new->membership = own->from ? own->name : NULL;
	if (own->from && catalog_view_generations(c, own->name, INT64_MAX, UINT64_MAX, add_generation, new, e) < 0)
		return -1;
	*out = STEAL_PTR(new);
	return 0;
}

void view_channel_close(struct view_channel *c)
{
	if (!c)
		return;
	fits_release(&c->fits);
	arena_release(&c->promoted.of_project);
	arena_release(&c->text);
	free(c);
}

void view_channel_cleanup(struct view_channel **c)
{
	view_channel_close(*c);
}

void view_channel_keep(struct view_channel *c, struct kept_versions *kept)
{
	c->kept = kept;
}

void view_channel_look_at_disk(struct view_channel *c)
{
	c->looks_at_disk = true;
}

size_t view_channel_environments(const struct view_channel *c, const struct fits_place **out)
{
	*out = c->fits.place;
	return c->fits.places;
}

static bool is_platform_in_doubt(const struct platform *p, struct buf *why)
{
	const char *words = p->scanned == CATALOG_UNREADABLE  ? "the last scan could not read all of it"
			    : p->scanned == CATALOG_NOT_TRIED ? "no scan has read it yet"
			    : p->is_away                      ? "its folder does not answer"
			    : !p->profile.environment_count   ? "its section must set pythons, arch and libc"
							      : NULL;
	if (words)
		buf_printf(why, "platform %s: %s", p->name, words);
	return words != NULL;
}

int view_channel_find_doubt(struct view_channel *c, struct buf *why, struct err *e)
{
	if (site_is_incomplete(c->site, c->view)) {
		buf_puts(why, "the view is incomplete");
		return 1;
	}
	if (c->kept && c->kept->trouble) {
		buf_puts(why, c->kept->trouble);
		return 1;
	}
	for (size_t i = 0; i < c->view->platform_count; i++)
		if (is_platform_in_doubt(c->view->platform[i], why))
			return 1;
	// A file that came within the last day proves nothing: it may have been noted by the same clock.
	char now[CLOCK_TEXT], then[CLOCK_TEXT];
	int64_t newest;
	if (!c->rules.keep_seconds)
		return 0;
	if (catalog_newest_arrival(c->catalog, c->now - DAY_SECONDS, &newest, e) < 0)
		return -1;
	if (!newest || c->now - newest <= (int64_t)QUIET_DAYS * DAY_SECONDS)
		return 0;
	clock_write(c->now, now);
	clock_write(newest, then);
	buf_printf(why, "the time, %s, cannot be right: between it and %s no file came", now, then);
	return 1;
}

// --- when members came ---

static int compare_numbers(const void *a, const void *b)
{
	const struct promoted_generation *x = a, *y = b;
	return (x->number < y->number) - (x->number > y->number);
}

static int64_t time_of_generation(const struct promoted_times *t, int64_t number)
{
	const struct promoted_generation wanted = {.number = number}, *found = NULL;
	if (t->generations)
		found = bsearch(&wanted, t->generation, t->generations, sizeof(wanted), compare_numbers);
	return found ? found->made : 0;
}

static int compare_promoted_files(const void *a, const void *b)
{
	const struct promoted_file *x = a, *y = b;
	int order = strcmp(x->filename, y->filename);
	return order ? order : (x->platform > y->platform) - (x->platform < y->platform);
}

static int add_promoted_file(void *ctx, const struct catalog_member *m, struct err *e UNUSED)
{
	struct promoted_times *t = ctx;
	ARENA_GROW(&t->of_project, t->file, t->files, t->file_room);
	t->file[t->files++] = (struct promoted_file){
		m->platform, time_of_generation(t, m->since), arena_strdup(&t->of_project, m->filename)};
	return 0;
}

static int load_promoted_files(struct view_channel *c, const char *project, struct err *e)
{
	struct promoted_times *t = &c->promoted;
	t->files = t->file_room = 0;
	arena_release(&t->of_project);
	if (catalog_view_members(c->catalog, c->membership, GENERATION_NEWEST, project, add_promoted_file, t, e) < 0)
		return -1;
	if (t->files)
		qsort(t->file, t->files, sizeof(*t->file), compare_promoted_files);
	return 0;
}

// Seconds since 1970; 0: unknown.
static int64_t arrival_of(const struct view_channel *c, const struct view_channel_file *f)
{
	const struct promoted_times *t = &c->promoted;
	int64_t came = catalog_file_came(&f->file);
	if (c->membership) {
		const struct promoted_file wanted = {.platform = f->platform->id, .filename = f->file.filename}, *found =
			NULL;
		if (t->files)
			found = bsearch(&wanted, t->file, t->files, sizeof(wanted), compare_promoted_files);
		came = found ? found->made : 0;
	}
	return came >= NAME_OWNER_NO_WHEELS_S ? came : 0;
}

// --- the files of a project ---

struct shown_files {
	struct view_channel *channel;
	struct view_channel_file *file;
	size_t count, room;
	struct arena *text;      // of the project
	struct arena scratch;    // of the rest
	struct version *version; // of each file; owned
	struct kept_file *kept;  // of each file
	uint64_t *bits;          // of each file
	size_t words;            // of a file's bits
};

static void shown_files_release(struct shown_files *r)
{
	for (size_t i = 0; r->version && i < r->count; i++)
		version_release(&r->version[i]);
	arena_release(&r->scratch);
}

static int add_shown_file(void *ctx, const struct platform *platform, const struct catalog_file *file,
	struct err *e UNUSED)
{
	struct shown_files *r = ctx;
	if (!version_is_valid(str_from(file->version)))
		return 0;
	ARENA_GROW(&r->scratch, r->file, r->count, r->room);
	struct view_channel_file *one = &r->file[r->count++];
	*one = (struct view_channel_file){.platform = platform, .file = *file};
	catalog_file_copy(r->text, &one->file);
	return 0;
}

static bool is_file_on_disk(struct view_channel *c, const struct view_channel_file *f)
{
	struct place_info now;
	struct err gone = ERR_INIT;
	const struct place_version known = {f->file.size, f->file.mtime_ns, 0};
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c->catalog, f->platform->id, f->file.filename, &place, &gone) < 0 || place.is_unlisted)
		return false;
	CLEANUP(place_file_close) struct place_file *file = place_open(f->platform->place, place.path, &gone);
	return file && place_file_info(file, &now, &gone) == 0 && now.kind == PLACE_FILE &&
	       place_version_match(&now.version, &known) != PLACE_OTHER;
}

static void set_bit(uint64_t *bits, enum view_channel_way way, size_t environments, size_t environment)
{
	size_t i = (size_t)way * environments + environment;
	bits[i / 64] |= (uint64_t)1 << (i % 64);
}

static bool has_bit(const uint64_t *bits, enum view_channel_way way, size_t environments, size_t environment)
{
	size_t i = (size_t)way * environments + environment;
	return bits[i / 64] >> (i % 64) & 1;
}

// A file name that cannot be parsed installs nowhere.
static void find_where_it_installs(struct view_channel *c, const struct view_channel_file *f, uint64_t *bits)
{
	struct err wrong = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	bool is_wheel = filename_kind(str_from(f->file.filename)) == FILENAME_WHEEL;
	if (is_wheel && filename_parse(str_from(f->file.filename), &name, &wrong) < 0)
		return;
	unsigned python = fits_python(&c->fits, f->file.requires_python);
	unsigned tags = is_wheel ? fits_tags(&c->fits, &name) : 0;
	for (size_t i = 0; i < c->fits.places; i++) {
		uint64_t micros = fits_micros(&c->fits, python, i);
		bool fits = micros && (!is_wheel || fits_rank(&c->fits, tags, i) >= 0);
		if (fits)
			set_bit(bits, WAY_ANY, c->fits.places, i);
		if (fits && c->fits.place[i].platform == f->platform)
			set_bit(bits, WAY_OWN, c->fits.places, i);
		if (fits && is_wheel)
			set_bit(bits, WAY_WHEEL, c->fits.places, i);
		if (fits && is_wheel && micros == UINT64_MAX)
			set_bit(bits, WAY_EVERY_MICRO, c->fits.places, i);
	}
}

// NULL: an error.
static struct retention_file *load_rows(struct shown_files *r, const char *project, struct err *e)
{
	struct view_channel *c = r->channel;
	struct view each = *c->view;
	each.shows_each = true;
	if (view_files(&each, c->catalog, project, add_shown_file, r, e) < 0 ||
		(c->membership && load_promoted_files(c, project, e) < 0))
		return NULL;
	fits_trim(&c->fits, MOST_TEXTS);
	r->words = (WAY_COUNT * c->fits.places + 63) / 64 + 1;
	r->version = ARENA_NEW(&r->scratch, struct version, r->count);
	r->bits = ARENA_NEW(&r->scratch, uint64_t, r->count * r->words);
	r->kept = ARENA_NEW(&r->scratch, struct kept_file, r->count);
	struct retention_file *files = ARENA_NEW(&r->scratch, struct retention_file, r->count);
	for (size_t i = 0; i < r->count; i++) {
		const struct view_channel_file *f = &r->file[i];
		r->kept[i] = (struct kept_file){.platform = f->platform, .file = &f->file, .version = &r->version[i]};
		r->kept[i].is_gone = c->looks_at_disk && !is_file_on_disk(c, f);
		if (!r->kept[i].is_gone)
			find_where_it_installs(c, f, &r->bits[i * r->words]);
		if (version_parse(str_from(f->file.version), &r->version[i], e) < 0)
			return NULL;
	}
	if (c->kept)
		kept_versions_mark(c->kept, project, r->kept, r->count, r->text);
	for (size_t i = 0; i < r->count; i++)
		files[i] = (struct retention_file){.arrived = arrival_of(c, &r->file[i]),
			.installs = &r->bits[i * r->words],
			.is_yanked = r->file[i].file.yanked != NULL,
			.is_wanted = r->kept[i].kept_by != NULL,
			.version = &r->version[i]};
	return files;
}

// --- the versions ---

static bool is_stale(const struct view_channel *c, const struct view_channel_project *p,
	const struct view_channel_version *v)
{
	if (c->rules.keep_seconds)
		return v->came && c->now - v->came >= c->rules.keep_seconds;
	return c->rules.keep_versions && (uint64_t)(v - p->version) >= c->rules.keep_versions;
}

// The newest version that is not yanked as a whole; NULL: all are.
static const struct view_channel_version *newest_version(const struct view_channel_project *p)
{
	for (size_t i = 0; i < p->versions; i++)
		if (!p->version[i].is_yanked)
			return &p->version[i];
	return NULL;
}

static const struct view_channel_version *last_by(const struct view_channel_project *p, const struct shown_files *r,
	const struct retention_file *decided, enum view_channel_way way, size_t environment)
{
	for (size_t i = 0; i < p->files; i++)
		if (!decided[i].is_yanked && has_bit(decided[i].installs, way, r->channel->fits.places, environment))
			return &p->version[p->file[i].version];
	return NULL;
}

// Wheels are what a channel is for: an sdist counts only where no wheel installs.
static void fill_cell(struct view_channel_project *p, const struct shown_files *r, const struct retention_file *decided,
	size_t environment)
{
	struct view_channel_cell *cell = &p->cell[environment];
	cell->last = last_by(p, r, decided, WAY_WHEEL, environment);
	if (!cell->last)
		cell->last = last_by(p, r, decided, WAY_ANY, environment);
	cell->state = !cell->last                           ? VIEW_CHANNEL_EMPTY
		      : is_stale(r->channel, p, cell->last) ? VIEW_CHANNEL_STALE
		      : cell->last != newest_version(p)     ? VIEW_CHANNEL_BEHIND
							    : VIEW_CHANNEL_CURRENT;
	p->state = cell->state > p->state ? cell->state : p->state;
}

int view_channel_read(struct view_channel *c, const char *project, struct view_channel_project *out, struct err *e)
{
	*out = (struct view_channel_project){0};
	CLEANUP(shown_files_release) struct shown_files r = {.channel = c, .text = &out->text};
	struct retention_file *decided = load_rows(&r, project, e);
	if (!decided) {
		view_channel_project_release(out);
		return -1;
	}
	retention_decide(decided, r.count, WAY_COUNT * c->fits.places, &c->rules, c->now);
	out->project = arena_strdup(&out->text, project);
	// The rows are moved into the project, the newest version first. decided: as retention_decide() sorted them.
	out->version = ARENA_NEW(&out->text, struct view_channel_version, r.count);
	out->file = ARENA_NEW(&out->text, struct view_channel_file, r.count);
	for (size_t i = 0; i < r.count; i++) {
		const struct retention_file *d = &decided[i];
		if (!i || !(version_cmp(d->version, decided[i - 1].version) == 0)) {
			size_t environments = r.channel->fits.places;
			out->version[out->versions++] =
				(struct view_channel_version){.version = arena_strdup(&out->text, d->version->text),
					.came = d->arrived,
					.is_yanked = true,
					.decision = d->decision,
					.environment = environments ? d->environment % environments : 0,
					.ends = d->ends,
					.is_warned = d->is_warned};
		}
		struct view_channel_version *v = &out->version[out->versions - 1];
		struct view_channel_file *f = &out->file[out->files++];
		size_t at = (size_t)(d->installs - r.bits) / r.words;
		*f = r.file[at];
		f->version = out->versions - 1;
		v->kept_by = v->kept_by ? v->kept_by : r.kept[at].kept_by;
		v->files++;
		v->is_yanked &= d->is_yanked;
		v->came = v->came && d->arrived ? v->came : 0; // a file without a date
	}
	out->cell = ARENA_NEW(&out->text, struct view_channel_cell, c->fits.places);
	for (size_t i = 0; i < c->fits.places; i++)
		fill_cell(out, &r, decided, i);
	return 0;
}

void view_channel_project_release(struct view_channel_project *p)
{
	arena_release(&p->text);
	*p = (struct view_channel_project){0};
}

// --- JSON ---

static struct jsondoc *version_json(const struct view_channel *c, const struct view_channel_version *v)
{
	struct jsondoc *doc = jsondoc_object();
	const struct fits_place *last =
		v->decision == RETENTION_LAST ? &c->fits.place[v->environment] : NULL;
	CLEANUP(mem_free) char *where = last ? xasprintf("%s/%s", last->platform->name, last->python) : NULL;
	jsondoc_put_str(doc, "version", v->version);
	jsondoc_put_time(doc, "came", v->came);
	jsondoc_put_int(doc, "files", (int64_t)v->files);
	jsondoc_put_bool(doc, "yanked", v->is_yanked);
	jsondoc_put_str(doc, "decision", view_channel_decision_name[v->decision]);
	jsondoc_put_str(doc, "environment", where);
	jsondoc_put_str(doc, "kept_by", v->kept_by);
	jsondoc_put_time(doc, "ends", v->ends);
	jsondoc_put_bool(doc, "warned", v->is_warned);
	return doc;
}

static struct jsondoc *cell_json(const struct view_channel *c, const struct fits_place *at,
	const struct view_channel_cell *cell)
{
	struct jsondoc *doc = jsondoc_object();
	int64_t came = cell->last ? cell->last->came : 0;
	jsondoc_put_str(doc, "platform", at->platform->name);
	jsondoc_put_str(doc, "python", at->python);
	jsondoc_put_str(doc, "version", cell->last ? cell->last->version : NULL);
	jsondoc_put_time(doc, "came", came);
	if (came && came <= c->now)
		jsondoc_put_int(doc, "age_days", (c->now - came) / DAY_SECONDS);
	jsondoc_put_str(doc, "state", view_channel_state_name[cell->state]);
	return doc;
}

struct jsondoc *view_channel_project_json(const struct view_channel *c, const struct view_channel_project *p)
{
	struct jsondoc *doc = jsondoc_object(), *versions = jsondoc_array(), *environments = jsondoc_array();
	for (size_t i = 0; i < p->versions; i++)
		jsondoc_add(versions, version_json(c, &p->version[i]));
	for (size_t i = 0; i < c->fits.places; i++)
		jsondoc_add(environments, cell_json(c, &c->fits.place[i], &p->cell[i]));
	jsondoc_put_str(doc, "project", p->project);
	jsondoc_put_str(doc, "state", view_channel_state_name[p->state]);
	jsondoc_put(doc, "versions", versions);
	jsondoc_put(doc, "environments", environments);
	return doc;
}
