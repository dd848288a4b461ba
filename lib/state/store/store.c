// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/store.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/suggest.h"
#include "lib/base/str.h"
#include "lib/base/suggest.h"
#include "lib/domain/machine/platform.h"
#include "lib/os/clock.h"
#include "lib/os/path-probe.h"
#include "lib/place/place-address.h"
#include "lib/place/place-s3.h"
#include "lib/state/catalog/catalog-write.h"

static const char only_platform[] = "wheels";

// path: root, or a folder below it. The array must have room for one more.
static struct platform *append_platform(struct store *s, const char *name, const char *root, const char *path)
{
	struct platform *p = &s->platform[s->platform_count++];
	*p = (struct platform){
		.name = xstrdup(name),
		.place = place_at(root, path, PLACE_POSIX_INSIDE),
		.volume = xstrdup(name),
		.is_retired = xcalloc(1, sizeof(*p->is_retired)),
	};
	p->written = p->place;
	return p;
}

// The profile by the name alone.
static int set_profile(struct platform *p, struct err *e)
{
	return profile_init(&p->profile, p->name, &(struct profile_keys){0}, e);
}

// A possible platform: its path before links are followed.
struct wanted {
	char *name;
	char *path;
	struct path_probe *probe; // NULL: not a possible platform
	char *real;               // its real path
	bool is_asked;            // it is in a bucket, which was not listed
	bool is_away;             // it did not answer
	char *away_why;           // what is said of the bucket then
};

static void ask_bucket(struct wanted *w, int64_t until_ms)
{
	struct err why = ERR_INIT;
	struct place *p = place_s3_new(w->path);
	w->is_away = !place_answers(p, NULL, until_ms, &why);
	if (w->is_away)
		w->away_why = xstrdup(why.msg);
	place_free(p);
}

// Starts all probes before it waits for the first one, so that they share the time limit.
static void probe_folders(struct store *s, struct wanted *wanted, size_t count, unsigned wait_ms)
{
	int64_t begin = clock_ms();
	for (size_t i = 0; i < count; i++)
		if (wanted[i].path && !place_s3_is(wanted[i].path))
			wanted[i].probe = path_probe_start(wanted[i].path);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].probe)
			wanted[i].is_away = !path_probe_wait(wanted[i].probe, begin + wait_ms, &wanted[i].real);
		else if (wanted[i].is_asked)
			ask_bucket(&wanted[i], begin + wait_ms);
	for (size_t i = 0; i < count; i++)
		if (wanted[i].is_away)
			s->waited = clock_ms() - begin;
}

static void forget_wanted(struct wanted *wanted, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(wanted[i].name);
		free(wanted[i].path);
		free(wanted[i].real);
		free(wanted[i].away_why);
	}
	free(wanted);
}

// A configured platform may be anywhere, and its folder may be missing (a volume that is not mounted), which the scan
// reports. Below the store, links may lead to anywhere in the store.
static int add_configured(struct store *s, const struct config_platform *p, const struct wanted *w, struct err *e)
{
	const char *real = w->real ? w->real : w->path;
	struct str below = str_from(real), store = str_from(s->path ? s->path : "");
	bool is_below = store.len && str_starts(below, store) && below.ptr[store.len] == '/';
	struct platform *out = append_platform(s, w->name, is_below ? s->path : real, real);
	if (p->write_path) {
		CLEANUP(mem_free)
		char *path = place_address_is_whole(p->write_path) ? xstrdup(p->write_path) : xasprintf("%s/%s", s->path, p->write_path);
		out->written = place_at(path, path, PLACE_POSIX_INSIDE);
	}
	if (p->release)
		out->release = xstrdup(p->release);
	if (p->volume) {
		free(out->volume);
		out->volume = xstrdup(p->volume);
	}
	out->release_delay = p->release_delay;
	out->release_timeout = p->release_timeout;
	out->is_away = w->is_away;
	out->away_why = w->away_why ? xstrdup(w->away_why) : NULL;
	out->is_mutable = p->is_mutable;
	out->is_private = p->is_private;
	out->quota_bytes = p->quota_bytes;
	out->quota_files = p->quota_files;
	out->provides = p->provides ? xstrdup(p->provides) : NULL;
	return config_profile(p, &out->profile, e);
}

static int want_configured(const struct store *s, const struct config_platform *p, struct wanted *out, struct err *e)
{
	const char *path = p->path ? p->path : p->name;
	if (!place_address_is_whole(path) && !s->path)
		return err_set(e, ERR_USAGE, "platform %s: no store is given, and it has no absolute path", p->name);
	if (p->write_path && !place_address_is_whole(p->write_path) && !s->path)
		return err_set(e, ERR_USAGE, "platform %s: no store is given, and its write-path is not absolute",
			p->name);
	out->name = xstrdup(p->name);
	out->path = place_address_is_whole(path) ? xstrdup(path) : xasprintf("%s/%s", s->path, path);
	if (!place_s3_is(out->path))
		return 0;
	CLEANUP(mem_free) char *written = out->path;
	out->is_asked = true;
	out->path = place_address_real(written, e);
	return out->path ? 0 : err_prefix(e, "platform %s: ", p->name);
}

// Whether it is a folder, or a link to one in the store. What may not be read may be one.
static bool is_folder(struct place_folder *top, const char *name)
{
	struct place_info info;
	struct err why = ERR_INIT;
	if (place_stat(top, name, &info, &why) <= 0)
		return false;
	if (info.kind == PLACE_LINK && place_follow(top, name, &info, &why) < 0)
		return why.kind == ERR_IO;
	return info.kind == PLACE_FOLDER;
}

static int by_wanted_name(const void *a, const void *b)
{
	const struct platform *left = a, *right = b;
	return strcmp(left->name, right->name);
}

// What is at the top of the store.
struct top_names {
	const struct store *store;
	struct wanted *item;
	size_t count, room;
};

static void top_names_release(struct top_names *all)
{
	forget_wanted(all->item, all->count);
}

// A possible platform has its path.
static int add_top_name(void *ctx, const char *name, enum place_kind kind, struct err *e UNUSED)
{
	struct top_names *all = ctx;
	if (kind == PLACE_LEFTOVER)
		return 0;
	GROW(all->item, all->count, all->room);
	bool is_slug = platform_is_slug(str_from(name));
	all->item[all->count++] = (struct wanted){
		.name = xstrdup(name), .path = is_slug ? xasprintf("%s/%s", all->store->path, name) : NULL};
	return 0;
}

// Finds the first-level folders that have a platform's name.
static int detect_platforms(struct store *s, unsigned wait_ms, struct err *e)
{
	CLEANUP(top_names_release) struct top_names all = {.store = s};
	CLEANUP(place_folder_close) struct place_folder *top = place_open_folder(s->top, "", e);
	if (!top)
		return -1;
	if (place_list(top, add_top_name, &all, e) < 0)
		return err_prefix(e, "%s: ", s->path);
	probe_folders(s, all.item, all.count, wait_ms);
	// A folder that does not answer counts as a platform.
	size_t room = 0, stray_room = 0;
	for (size_t i = 0; i < all.count; i++) {
		const struct wanted *w = &all.item[i];
		if (!w->path || (!w->is_away && !is_folder(top, w->name))) {
			GROW(s->stray, s->stray_count, stray_room);
			s->stray[s->stray_count++] = xstrdup(w->name);
			continue;
		}
		GROW(s->platform, s->platform_count, room);
		struct platform *p = append_platform(s, w->name, s->path, w->path);
		p->is_away = w->is_away;
		if (set_profile(p, e) < 0)
			return -1;
	}
	if (s->platform_count)
		qsort(s->platform, s->platform_count, sizeof(*s->platform), by_wanted_name);
	return 0;
}

static void forget_stray(struct store *s)
{
	while (s->stray_count)
		free(s->stray[--s->stray_count]);
	free(s->stray);
	s->stray = NULL;
}

static int find_platforms(struct store *s, const struct config *c, unsigned wait_ms, struct err *e)
{
	if (c->platform_count) {
		struct wanted *wanted = xcalloc(c->platform_count, sizeof(*wanted));
		int result = 0;
		for (size_t i = 0; i < c->platform_count && result == 0; i++)
			result = want_configured(s, &c->platforms[i], &wanted[i], e);
		s->platform = xcalloc(c->platform_count, sizeof(*s->platform));
		if (result == 0)
			probe_folders(s, wanted, c->platform_count, wait_ms);
		for (size_t i = 0; i < c->platform_count && result == 0; i++)
			result = add_configured(s, &c->platforms[i], &wanted[i], e);
		forget_wanted(wanted, c->platform_count);
		return result;
	}
	s->is_detected = true;
	if (detect_platforms(s, wait_ms, e) < 0)
		return -1;
	if (s->platform_count)
		return 0;
	forget_stray(s); // they belong to the single platform
	s->platform = xcalloc(1, sizeof(*s->platform));
	append_platform(s, only_platform, s->path, s->path);
	return 0;
}

static int refuse_store(struct err *e)
{
	err_prefix(e, "cannot open the store ");
	return e->kind == ERR_NOT_FOUND ? err_advise(e, "mount or make the folder, or correct [store] path or STORE")
					: -1;
}

int store_open(const struct config *c, unsigned wait_ms, struct store *out, struct err *e)
{
	CLEANUP(store_release) struct store s = {0};
	if (!c->store && !c->platform_count && c->upstream_merge) {
		*out = s;
		return 0;
	}
	if (!c->store && !c->platform_count)
		return err_set(e, ERR_USAGE,
			"no store is given: name the folder that holds the wheels, as STORE or as [store] path of --config FILE");
	if (c->store) {
		s.path = place_address_real(c->store, e);
		s.top = s.path ? place_at(s.path, s.path, PLACE_POSIX_INSIDE) : NULL;
		CLEANUP(place_folder_close) struct place_folder *top = s.top ? place_open_folder(s.top, "", e) : NULL;
		if (!top)
			return refuse_store(e);
	}
	// Memberships need a folder.
	for (size_t i = 0; i < c->view_count; i++)
		if (c->views[i].from && !c->store && !c->views_path)
			return err_set(e, ERR_USAGE,
				"view %s: from needs [store] views, because no [store] path is set", c->views[i].name);
	if (find_platforms(&s, c, wait_ms, e) < 0)
		return -1;
	*out = s;
	s = (struct store){0};
	return 0;
}

void store_release(struct store *s)
{
	for (size_t i = 0; i < s->platform_count; i++) {
		free(s->platform[i].name);
		if (store_is_split(&s->platform[i]))
			place_free(s->platform[i].written);
		place_free(s->platform[i].place);
		free(s->platform[i].release);
		free(s->platform[i].volume);
		free(s->platform[i].provides);
		free(s->platform[i].away_why);
		free(s->platform[i].is_retired);
		profile_release(&s->platform[i].profile);
	}
	forget_stray(s);
	free(s->platform);
	place_free(s->top);
	free(s->path);
	*s = (struct store){0};
}

static int recall_platform(void *ctx, const struct catalog_platform *p, struct err *e)
{
	struct store *s = ctx;
	if (!p->files || !platform_is_slug(str_from(p->name)) || store_platform_named(s, str_from(p->name)))
		return 0;
	s->platform = xreallocarray(s->platform, s->platform_count + 1, sizeof(*s->platform));
	CLEANUP(mem_free) char *path = xasprintf("%s/%s", s->path, p->name);
	return set_profile(append_platform(s, p->name, s->path, path), e);
}

int store_recall(struct store *s, struct catalog *c, struct err *e)
{
	if (!s->is_detected)
		return 0;
	if (catalog_platforms(c, recall_platform, s, e) < 0)
		return -1;
	qsort(s->platform, s->platform_count, sizeof(*s->platform), by_wanted_name);
	return 0;
}

// Whether it is the single platform "wheels" beside recalled platforms: the store itself, which has no files of its
// own.
static bool is_stand_in(const struct store *s, const struct platform *p)
{
	return s->is_detected && s->platform_count > 1 && strcmp(p->name, only_platform) == 0;
}

static void mark_stand_ins(struct store *s)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (is_stand_in(s, &s->platform[i]))
			s->platform[i].scanned = CATALOG_SCANNED;
}

int store_register(struct store *s, struct catalog *c, struct err *e)
{
	if (s->path && catalog_claim(c, s->path, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++)
		if (catalog_platform_add(c, s->platform[i].name, &s->platform[i].id, e) < 0 ||
			catalog_platform_scanned(c, s->platform[i].id, &s->platform[i].scanned, e) < 0)
			return -1;
	mark_stand_ins(s);
	return 0;
}

int store_find(struct store *s, struct catalog *c, struct err *e)
{
	if (s->path && catalog_is_of(c, s->path, e) < 0)
		return -1;
	for (size_t i = 0; i < s->platform_count; i++) {
		struct err missing = ERR_INIT;
		struct platform *p = &s->platform[i];
		if (catalog_platform_find(c, p->name, &p->id, &missing) == 0 &&
			catalog_platform_scanned(c, p->id, &p->scanned, &missing) == 0)
			continue;
		if (missing.kind != ERR_NOT_FOUND) {
			*e = missing;
			return -1;
		}
		p->id = 0;
	}
	mark_stand_ins(s);
	return 0;
}

const struct platform *store_platform(const struct store *s, int64_t id)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (s->platform[i].id == id)
			return &s->platform[i];
	return NULL;
}

bool store_is_wanted(const char *const *glob, size_t globs, const char *platform)
{
	for (size_t i = 0; i < globs; i++)
		if (fnmatch(glob[i], platform, 0) == 0)
			return true;
	return globs == 0;
}

const struct platform *store_platform_named(const struct store *s, struct str name)
{
	for (size_t i = 0; i < s->platform_count; i++)
		if (str_eq(str_from(s->platform[i].name), name))
			return &s->platform[i];
	return NULL;
}

int store_refuse_platform(const struct store *s, const char *name, enum err_kind kind, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < s->platform_count; i++)
		name_choice_add(&names, s->platform[i].name);
	return name_choice_refuse(&names, kind, "the store has no platform", e);
}

struct place_file *store_open_known(const struct platform *p, const char *path, const struct place_version *known,
	struct err *e)
{
	struct place_info now;
	if (p->is_away) {
		err_set(e, ERR_IO, "platform %s does not answer", p->name);
		return NULL;
	}
	CLEANUP(place_file_close) struct place_file *file = place_open(p->place, path, e);
	if (!file || place_file_info(file, &now, e) < 0)
		return NULL;
	if (now.kind == PLACE_FILE && place_version_match(&now.version, known) == PLACE_SAME)
		return STEAL_PTR(file);
	err_set(e, ERR_BUSY, "the file is no longer what the catalog knows");
	return NULL;
}

bool store_is_split(const struct platform *p)
{
	return p->written != p->place;
}

// --- a store that has moved ---

static int stop_at_entry(void *ctx UNUSED, const char *name, enum place_kind kind, struct err *e UNUSED)
{
	return kind != PLACE_LEFTOVER && strcmp(name, "lost+found") != 0;
}

static bool has_entry(const struct platform *p)
{
	struct err ignored = ERR_INIT;
	CLEANUP(place_folder_close) struct place_folder *top = p->is_away ? NULL : place_open_folder(p->place, "", &ignored);
	return top && place_list(top, stop_at_entry, NULL, &ignored) > 0;
}

static int note_folder_of_platform(void *ctx, const struct catalog_platform *p, struct err *e UNUSED)
{
	bool *has_folders = ctx;
	*has_folders |= p->files && platform_is_slug(str_from(p->name));
	return 0;
}

// Without folders of platforms the store itself is one platform. Where the catalog knows such folders, it is more
// likely the place of a volume that is not mounted.
static int check_folders(const struct store *s, struct catalog *c, const char *before, struct err *e)
{
	bool has_folders = false;
	if (catalog_platforms(c, note_folder_of_platform, &has_folders, e) < 0)
		return -1;
	bool is_bare = s->is_detected && s->platform_count == 1 && !platform_is_slug(str_from(s->platform[0].name));
	for (size_t i = 0; i < s->platform_count && !(is_bare && has_folders); i++)
		if (has_entry(&s->platform[i]))
			return 0;
	return err_set(e, ERR_USAGE,
		"catalog %s is of the store %s, and %s has no folder of a platform with anything in it; is its volume mounted?",
		catalog_path(c), before, s->path);
}

int store_adopt_check(const struct store *s, struct catalog *c, char **before, struct err *e)
{
	CLEANUP(mem_free) char *known = NULL;
	*before = NULL;
	if (!s->path)
		return 0;
	if (catalog_store(c, &known, e) < 0)
		return -1;
	if (!known || strcmp(known, s->path) == 0)
		return 0;
	if (check_folders(s, c, known, e) < 0)
		return -1;
	*before = STEAL_PTR(known);
	return 0;
}

int store_adopt(const struct store *s, struct catalog *c, struct err *e)
{
	CLEANUP(mem_free) char *before = NULL;
	if (store_adopt_check(s, c, &before, e) < 0)
		return -1;
	if (!before)
		return 0;
	log_warn("catalog %s is made again: it was of the store %s, and is now of %s", catalog_path(c), before, s->path);
	return catalog_adopt(c, s->path, e);
}
