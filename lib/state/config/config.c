// SPDX-License-Identifier: Apache-2.0
#include "lib/state/config/config.h"

#include <assert.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/charclass.h"
#include "lib/base/limits.h"
#include "lib/base/strset.h"
#include "lib/base/suggest.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/ini-file.h"
#include "lib/place/place-address.h"
#include "lib/state/config/config-option.h"

static int check_range(const struct config_option *row, uint64_t n, const char *value, struct err *e)
{
	if (n >= row->least && n <= row->setting->most)
		return 0;
	return err_set(e, ERR_USAGE, "[%s] %s: %s is not between %llu and %llu", row->section, row->key, value,
		(unsigned long long)row->least, (unsigned long long)row->setting->most);
}

static int set_row(const struct config_option *row, void *object, const char *value, struct err *e)
{
	void *field = (char *)object + row->offset;
	bool is_good = row->setting->set(field, value);
	if (!is_good && row->setting->is_secret)
		return err_set(e, ERR_USAGE, "[%s] %s is not %s", row->section, row->key, row->setting->wants);
	if (!is_good)
		return err_set(e, ERR_USAGE, "[%s] %s: \"%s\" is not %s", row->section, row->key, value,
			row->setting->wants);
	return row->setting->most ? check_range(row, *(uint64_t *)field, value, e) : 0;
}

// A default is good. A string is copied as it is: libcurl, which looks at URLs, is not loaded for it.
static void set_defaults(enum config_holder holder, void *object)
{
	struct err e = ERR_INIT;
	for (size_t i = 0; i < config_options; i++) {
		const struct config_option *row = &config_table[i];
		if (row->holder != holder || !row->fallback)
			continue;
		if (row->setting->is_owned)
			*(char **)(void *)((char *)object + row->offset) = xstrdup(row->fallback);
		else if (set_row(row, object, row->fallback, &e) < 0)
			abort();
	}
}

static void free_strings(enum config_holder holder, void *object)
{
	for (size_t i = 0; i < config_options; i++)
		if (config_table[i].holder == holder && config_table[i].setting->is_owned)
			free(*(char **)(void *)((char *)object + config_table[i].offset));
}

// The struct was copied: it gets strings of its own.
static void copy_strings(enum config_holder holder, void *object)
{
	for (size_t i = 0; i < config_options; i++) {
		char **field = (char **)(void *)((char *)object + config_table[i].offset);
		if (config_table[i].holder == holder && config_table[i].setting->is_owned && *field)
			*field = xstrdup(*field);
	}
}

// The caller owns the copy.
static void *copy_array(const void *items, size_t count, size_t size)
{
	void *copy = xcalloc(count + 1, size);
	if (count)
		memcpy(copy, items, count * size);
	return copy;
}

// --- sections with names ---

static const char plain_upstream[] = "upstream"; // the name of a plain [upstream]

// The name stands in URLs, and among the values of [view] upstream.
static bool upstream_name_is_valid(struct str name)
{
	for (size_t i = 0; i < name.len; i++)
		if (!(ascii_is_alnum(name.ptr[i]) && ascii_lower(name.ptr[i]) == name.ptr[i]) && name.ptr[i] != '-')
			return false;
	return platform_name_is_valid(name) && !str_eq(name, STR("merge")) && !str_eq(name, STR("no")) &&
	       !str_eq(name, str_from(plain_upstream));
}

// Their structs are in a list of the configuration, and begin with the name.
static const struct named_kind {
	const char *name;
	size_t items, count, size; // of the list
	enum config_holder holder;
	bool (*is_name)(struct str name);
	const char *wants; // what a name is
	bool is_index;     // it is an index at /NAME/simple/
	bool may_be_plain; // there is a section without a name, too, which has the defaults
} named_kinds[] = {
#define LIST(items, count, type) offsetof(struct config, items), offsetof(struct config, count), sizeof(struct type)
	{"platform", LIST(platforms, platform_count, config_platform), CONFIG_HOLDER_PLATFORM, platform_name_is_valid,
		"not a name", true, false},
	{"view", LIST(views, view_count, config_view), CONFIG_HOLDER_VIEW, platform_name_is_valid, "not a name", true, false},
	{"branch", LIST(branches, branch_count, config_branch), CONFIG_HOLDER_BRANCH, platform_name_is_valid, "not a name",
		false, false},
	{plain_upstream, LIST(upstreams.item, upstreams.count, config_upstream), CONFIG_HOLDER_UPSTREAM,
		upstream_name_is_valid,
		"not a name of small letters, digits and \"-\", or one of merge, no and upstream", false, true},
	{"place", LIST(places, place_count, config_place), CONFIG_HOLDER_PLACE, place_address_is_bucket, "not s3://BUCKET",
		false, false},
#undef LIST
};

static const struct named_kind *find_kind(struct str kind)
{
	for (size_t i = 0; i < ARRAY_SIZE(named_kinds); i++)
		if (str_eq(kind, str_from(named_kinds[i].name)))
			return &named_kinds[i];
	return NULL;
}

static size_t *count_of(const struct config *c, const struct named_kind *kind)
{
	return (size_t *)(uintptr_t)((const char *)c + kind->count);
}

static char *get_list(const struct config *c, const struct named_kind *kind)
{
	char *items;
	memcpy(&items, (const char *)c + kind->items, sizeof(items));
	return items;
}

static void set_list(struct config *c, const struct named_kind *kind, void *items, size_t count)
{
	memcpy((char *)c + kind->items, &items, sizeof(items));
	*count_of(c, kind) = count;
}

static char **name_of(void *item)
{
	return item;
}

static void *find_item(const struct config *c, const struct named_kind *kind, struct str name)
{
	char *items = get_list(c, kind);
	for (size_t i = 0; i < *count_of(c, kind); i++, items += kind->size)
		if (str_eq(name, str_from(*name_of(items))))
			return items;
	return NULL;
}

static void *add_item(struct config *c, const struct named_kind *kind, size_t place, struct str name)
{
	size_t count = *count_of(c, kind);
	char *items = xreallocarray(get_list(c, kind), count + 1, kind->size), *item = items + place * kind->size;
	memmove(item + kind->size, item, (count - place) * kind->size);
	memset(item, 0, kind->size);
	*name_of(item) = xstrndup(name.ptr, name.len);
	if (!kind->may_be_plain)
		set_defaults(kind->holder, item);
	set_list(c, kind, items, count + 1);
	return item;
}

static void release_list(struct config *c, const struct named_kind *kind)
{
	char *items = get_list(c, kind), *item = items;
	for (size_t i = 0; i < *count_of(c, kind); i++, item += kind->size) {
		free_strings(kind->holder, item);
		free(*name_of(item));
	}
	free(items);
	set_list(c, kind, NULL, 0);
}

static void copy_list(const struct config *c, const struct named_kind *kind, struct config *out)
{
	size_t count = *count_of(c, kind);
	char *items = copy_array(get_list(c, kind), count, kind->size), *item = items;
	for (size_t i = 0; i < count; i++, item += kind->size) {
		*name_of(item) = xstrdup(*name_of(item));
		copy_strings(kind->holder, item);
	}
	set_list(out, kind, items, count);
}

// --- upstreams ---

static bool is_plain(const struct config_upstream *u)
{
	return strcmp(u->name, plain_upstream) == 0;
}

// The number of the key among those of an upstream, as a bit; 0: it is none of them.
static uint64_t said_bit(const struct config_option *row)
{
	size_t number = 0;
	for (const struct config_option *o = config_table; o < row; o++)
		number += o->holder == CONFIG_HOLDER_UPSTREAM;
	assert(number < 64);
	return row->holder == CONFIG_HOLDER_UPSTREAM ? (uint64_t)1 << number : 0;
}

static void copy_field(const struct config_option *row, const void *from, void *to)
{
	const char *source = (const char *)from + row->offset;
	char *target = (char *)to + row->offset;
	if (row->setting->is_owned) {
		char **text = (char **)(void *)target;
		free(*text);
		*text = *(const char *const *)(const void *)source ? xstrdup(*(const char *const *)(const void *)source) : NULL;
	} else {
		memcpy(target, source, row->setting->most ? sizeof(uint64_t) : sizeof(bool));
	}
}

static bool is_url_row(const struct config_option *row)
{
	return row->holder == CONFIG_HOLDER_UPSTREAM && row->offset == offsetof(struct config_upstream, urls);
}

// Keys that a section does not say are those of the plain [upstream]; its url is its own.
static void inherit(struct config_upstream *u, const struct config_upstream *plain)
{
	for (const struct config_option *row = config_table; row < config_table + config_options; row++)
		if (row->holder == CONFIG_HOLDER_UPSTREAM && !(u->said & said_bit(row)) && (is_plain(u) || !is_url_row(row)))
			copy_field(row, plain, u);
}

static void release_upstream(struct config_upstream *u)
{
	free_strings(CONFIG_HOLDER_UPSTREAM, u);
	free(u->name);
}

static bool says_url(const struct config_upstream *u)
{
	const struct config_option *row = config_table;
	while (!is_url_row(row))
		row++;
	return u->said & said_bit(row);
}

static size_t count_named(const struct config *c)
{
	size_t count = 0;
	for (size_t i = 0; i < c->upstreams.count; i++)
		count += !is_plain(&c->upstreams.item[i]);
	return count;
}

// Makes the list, after the plain [upstream] or a section has got a key.
static void complete_upstreams(struct config *c)
{
	struct config_upstreams *u = &c->upstreams;
	size_t kept = 0;
	for (size_t i = 0; i < u->count; i++)
		if (is_plain(&u->item[i]))
			release_upstream(&u->item[i]);
		else
			u->item[kept++] = u->item[i];
	u->count = kept;
	if (!kept || says_url(&c->upstream))
		add_item(c, find_kind(str_from(plain_upstream)), c->upstream_place < kept ? c->upstream_place : kept,
			str_from(plain_upstream));
	for (size_t i = 0; i < u->count; i++)
		inherit(&u->item[i], &c->upstream);
}

const struct config_upstream *config_upstreams_named(const struct config_upstreams *u, const char *name)
{
	for (size_t i = 0; i < u->count; i++)
		if (strcmp(u->item[i].name, name) == 0)
			return &u->item[i];
	return NULL;
}

bool config_upstream_redirects(const struct config_upstream *u)
{
	return u->files && strcmp(u->files, "redirect") == 0;
}

bool config_keep_upstreams(struct config *now, const struct config *before)
{
	struct config copy = {0};
	struct config_upstreams *kept = &copy.upstreams, *news = &now->upstreams;
	const struct named_kind *kind = find_kind(str_from(plain_upstream));
	bool is_same = news->count == before->upstreams.count;
	copy_list(before, kind, &copy);
	for (size_t i = 0; i < kept->count; i++) {
		struct config_upstream *item = NULL;
		for (size_t k = 0; k < news->count; k++)
			item = strcmp(news->item[k].name, kept->item[i].name) == 0 ? &news->item[k] : item;
		is_same = is_same && item == &news->item[i];
		if (!item)
			continue;
		struct config_upstream old = kept->item[i];
		kept->item[i] = *item;
		*item = old;
	}
	release_list(now, kind);
	*news = *kept;
	return is_same;
}

// --- the whole ---

void config_init(struct config *c)
{
	*c = (struct config){0};
	set_defaults(CONFIG_HOLDER_CONFIG, c);
	set_defaults(CONFIG_HOLDER_UPSTREAM, &c->upstream);
	complete_upstreams(c);
}

void config_release(struct config *c)
{
	free_strings(CONFIG_HOLDER_CONFIG, c);
	release_upstream(&c->upstream);
	for (size_t i = 0; i < c->view_count; i++) {
		for (size_t k = 0; k < c->views[i].platform_count; k++)
			free(c->views[i].platforms[k]);
		free(c->views[i].platforms);
	}
	for (size_t i = 0; i < ARRAY_SIZE(named_kinds); i++)
		release_list(c, &named_kinds[i]);
	*c = (struct config){0};
}

void config_copy(const struct config *c, struct config *out)
{
	*out = *c;
	copy_strings(CONFIG_HOLDER_CONFIG, out);
	copy_strings(CONFIG_HOLDER_UPSTREAM, &out->upstream);
	for (size_t i = 0; i < ARRAY_SIZE(named_kinds); i++)
		copy_list(c, &named_kinds[i], out);
	for (size_t i = 0; i < c->view_count; i++) {
		struct config_view *v = &out->views[i];
		v->platforms = copy_array(v->platforms, v->platform_count, sizeof(*v->platforms));
		for (size_t k = 0; k < v->platform_count; k++)
			v->platforms[k] = xstrdup(v->platforms[k]);
	}
}

bool config_section_is_named(const char *section)
{
	const struct named_kind *kind = find_kind(str_from(section));
	return kind && !kind->may_be_plain;
}

// Those without.
static const char *const plain_sections[] = {
	"store", "catalog", "state", "index", "server", "tokens", "change-log", "evidence", "upload", plain_upstream, "prune", "build"};

// What a section, or a key of one, was called one release before: that still counts.
static const struct {
	const char *section, *key; // key NULL: the section itself
	const char *now;
} old_names[] = {
	{"audit", NULL, "change-log"},
	{"index", "audit", "facts"},
};

struct str config_name_now(struct str section, const char *key)
{
	for (size_t i = 0; i < ARRAY_SIZE(old_names); i++)
		if (!key == !old_names[i].key && str_eq(section, str_from(old_names[i].section)) &&
			(!key || strcmp(key, old_names[i].key) == 0))
			return str_from(old_names[i].now);
	return key ? str_from(key) : section;
}

// A parsed heading, and the struct for its keys.
struct section {
	struct str kind; // "server", "platform"
	struct str name; // of a platform, view or branch, else empty
	void *object;
	bool is_new;
};

static int find_named(struct config *c, const struct named_kind *kind, struct section *s, struct err *e)
{
	if (!kind->is_name(s->name))
		return err_set(e, ERR_USAGE, "[" STR_FMT " " STR_FMT "]: %s", STR_ARG(s->kind), STR_ARG(s->name),
			kind->wants);
	for (size_t i = 0; i < ARRAY_SIZE(named_kinds); i++)
		if (&named_kinds[i] != kind && kind->is_index && named_kinds[i].is_index &&
			find_item(c, &named_kinds[i], s->name))
			return err_set(e, ERR_USAGE, "\"" STR_FMT "\" names both a platform and a view",
				STR_ARG(s->name));
	s->object = find_item(c, kind, s->name);
	s->is_new = !s->object;
	if (s->is_new)
		s->object = add_item(c, kind, *count_of(c, kind), s->name);
	return 0;
}

// The name of a section that a mistyped one was meant to be, without the name of a platform, view or branch.
static const char *section_like(struct str typed)
{
	struct suggest n;
	suggest_init(&n, typed);
	for (size_t i = 0; i < config_options; i++)
		suggest_add(&n, config_table[i].section);
	return n.word;
}

static int find_section(struct config *c, const char *heading, struct section *s, struct err *e)
{
	struct str rest = str_from(heading);
	*s = (struct section){.object = c};
	s->kind = config_name_now(str_cut(&rest, ' '), NULL);
	s->name = str_trim(rest);
	const struct named_kind *kind = find_kind(s->kind);
	if (kind && (s->name.len || !kind->may_be_plain))
		return find_named(c, kind, s, e);
	for (size_t i = 0; i < ARRAY_SIZE(plain_sections) && !s->name.len; i++)
		if (str_eq(s->kind, str_from(plain_sections[i])))
			return 0;
	if (!*heading)
		return err_set(e, ERR_USAGE, "a key before the first [section]; write the section above it, such as [store]");
	const char *meant = section_like(s->kind);
	return err_set(e, ERR_USAGE, "there is no section [%s]%s%s%s%s", heading, meant ? "; did you mean [" : "",
		meant ? meant : "", meant && config_section_is_named(meant) ? " NAME" : "", meant ? "]?" : "");
}

static void *holder_of(struct config *c, const struct config_option *row, const struct section *s)
{
	return row->holder == CONFIG_HOLDER_UPSTREAM && !s->name.len ? &c->upstream : s->object;
}

static void note_said(struct config *c, const struct config_option *row, const struct section *s)
{
	struct config_upstream *u = holder_of(c, row, s);
	if (row->holder != CONFIG_HOLDER_UPSTREAM)
		return;
	u->said |= said_bit(row);
	if (u == &c->upstream && is_url_row(row))
		c->upstream_place = count_named(c);
}

// The section that has this key; NULL: none.
static const char *section_of_key(const char *key)
{
	for (size_t i = 0; i < config_options; i++)
		if (strcmp(config_table[i].key, key) == 0)
			return config_table[i].section;
	return NULL;
}

static void refuse_key(struct str section, const char *key, struct err *e)
{
	const char *other = section_of_key(key), *meant = config_suggest_key(section, key);
	const char *words = other ? "; it is a key of [" : meant ? "; did you mean \"" : "";
	err_set(e, ERR_USAGE, "[" STR_FMT "] has no key \"%s\"%s%s%s", STR_ARG(section), key, words,
		other   ? other
		: meant ? meant
			: "",
		other   ? "]"
		: meant ? "\"?"
			: "");
}

static const struct config_option *find_row(const struct section *s, const char *key, struct err *e)
{
	struct str now = config_name_now(s->kind, key);
	for (size_t i = 0; i < config_options; i++) {
		const struct config_option *row = &config_table[i];
		if (!str_eq(s->kind, str_from(row->section)) || !str_eq(now, str_from(row->key)))
			continue;
		if (!s->name.len || row->holder != CONFIG_HOLDER_CONFIG)
			return row;
		err_set(e, ERR_USAGE, "[" STR_FMT " " STR_FMT "] cannot have %s: it is a key of [" STR_FMT "], for all",
			STR_ARG(s->kind), STR_ARG(s->name), row->key, STR_ARG(s->kind));
		return NULL;
	}
	refuse_key(s->kind, key, e);
	return NULL;
}

// A configured list replaces the default.
static void begin_list(const struct config_option *row, void *object)
{
	char **field = (void *)((char *)object + row->offset);
	if (!row->setting->is_list || !row->setting->is_owned)
		return;
	free(*field);
	*field = NULL;
}

int config_set(struct config *c, const char *section, const char *key, const char *value, struct err *e)
{
	struct section s;
	if (find_section(c, section, &s, e) < 0)
		return -1;
	const struct config_option *row = find_row(&s, key, e);
	if (!row)
		return -1;
	begin_list(row, holder_of(c, row, &s));
	if (set_row(row, holder_of(c, row, &s), value, e) < 0)
		return -1;
	note_said(c, row, &s);
	complete_upstreams(c);
	return 0;
}

struct reading {
	struct config *config;
	bool *seen; // by row; those of sections with names behind those without
};

static void forget_section(struct reading *r, struct str section)
{
	for (size_t i = 0; i < config_options; i++)
		if (str_eq(section, str_from(config_table[i].section)))
			r->seen[config_options + i] = false;
}

static int begin_section(struct reading *r, const char *heading, struct err *e)
{
	struct section s;
	if (find_section(r->config, heading, &s, e) < 0)
		return -1;
	if (s.name.len && !s.is_new)
		return err_set(e, ERR_USAGE, "[%s] is there twice", heading);
	if (s.name.len)
		forget_section(r, s.kind);
	return 0;
}

// Called again with the same key for each continued line of a value. That is right for a list; for another key it is an
// error, which indented lines of a section cause too.
static int on_line(void *ctx, const struct ini_file_line *line, struct err *e)
{
	struct reading *r = ctx;
	struct section s;
	if (!line->key)
		return begin_section(r, line->section, e);
	if (find_section(r->config, line->section, &s, e) < 0)
		return -1;
	const struct config_option *row = find_row(&s, line->key, e);
	if (!row)
		return -1;
	bool *seen = &r->seen[(s.name.len ? config_options : 0) + (size_t)(row - config_table)];
	if (*seen && !row->setting->is_list)
		return err_set(e, ERR_USAGE, "[%s] %s is there twice (or this line is indented)", line->section,
			line->key);
	if (!*seen)
		begin_list(row, holder_of(r->config, row, &s));
	*seen = true;
	note_said(r->config, row, &s);
	return set_row(row, holder_of(r->config, row, &s), line->value, e);
}

// A project of one index is named beside that of another: each has one address.
static int check_upstreams(const struct config *c, struct err *e)
{
	bool is_several = c->upstreams.count > 1;
	if (c->upstreams.count > LIMIT_UPSTREAMS)
		return err_set(e, ERR_USAGE, "there are more than %d upstreams", LIMIT_UPSTREAMS);
	for (size_t i = 0; i < c->upstreams.count; i++) {
		const struct config_upstream *u = &c->upstreams.item[i];
		const char *space = is_plain(u) ? "" : " ", *name = is_plain(u) ? "" : u->name;
		if (!u->urls)
			return err_set(e, ERR_USAGE, "[upstream%s%s] has no url", space, name);
		if (strchr(u->urls, ' ') && (is_several || !is_plain(u)))
			return err_set(e, ERR_USAGE,
				"[upstream%s%s] url has several addresses; each needs an [upstream NAME] of its own",
				space, name);
	}
	return 0;
}

static int refuse_view_platform(const struct config *c, const char *section, struct str name, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf hint;
	name_choice_init(&names, name);
	buf_init(&hint, ERR_MSG_SIZE);
	for (size_t i = 0; i < c->platform_count; i++)
		name_choice_add(&names, c->platforms[i].name);
	name_choice_hint(&names, &hint);
	return err_set(e, ERR_USAGE, "[%s] names \"" STR_FMT "\", which is no [platform]%s", section, STR_ARG(name),
		hint.len ? hint.data : "");
}

// The second pass, when all platforms are known, in whatever order they are. Without any in the file, the platforms are
// the store's folders, which are checked later.
static int check_line(void *ctx, const struct ini_file_line *line, struct err *e)
{
	const struct config *c = ctx;
	if (!line->key || strcmp(line->key, "platforms") != 0 || strncmp(line->section, "view ", strlen("view ")) != 0)
		return 0;
	struct str rest = str_from(line->value);
	while (rest.len) {
		struct str name = str_cut(&rest, ' ');
		if (!find_item(c, find_kind(STR("platform")), name))
			return refuse_view_platform(c, line->section, name, e);
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

// Each value was checked with its line; this checks that together they are sufficient.
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
	CLEANUP(mem_free) bool *seen = xcalloc(2 * config_options, sizeof(*seen));
	struct reading r = {.config = c, .seen = seen};
	if (ini_file_read_file(path, on_line, &r, e) < 0)
		return -1;
	complete_upstreams(c);
	if (check_upstreams(c, e) < 0 || config_views_complete(c, e) < 0)
		return err_prefix(e, "%s: ", path);
	for (size_t i = 0; i < c->branch_count; i++)
		if (!c->branches[i].constraints && !c->branches[i].requirements && !c->branches[i].locks)
			return err_set(e, ERR_USAGE, "%s: [branch %s] has neither constraints nor requirements nor locks",
				path, c->branches[i].name);
	if (check_profiles(c, e) < 0)
		return err_prefix(e, "%s: ", path);
	return c->platform_count ? ini_file_read_file(path, check_line, c, e) : 0;
}

bool config_view_has(const struct config_view *v, const char *platform)
{
	for (size_t i = 0; i < v->platform_count; i++)
		if (strcmp(v->platforms[i], platform) == 0)
			return true;
	return false;
}

static bool is_asked_for(const struct config *c, size_t upstream, const char *platform)
{
	for (size_t i = 0; i < c->view_count; i++) {
		const struct config_view *v = &c->views[i];
		struct config_order order = {0};
		if (v->upstream && config_view_has(v, platform))
			config_view_order(c, v, &order);
		for (size_t k = 0; k < order.count; k++)
			if (order.item[k] == upstream)
				return true;
	}
	return false;
}

void config_hidden_platforms(const struct config *c, size_t upstream, struct strset *out)
{
	for (size_t i = 0; i < c->platform_count; i++)
		if (c->platforms[i].is_private && !is_asked_for(c, upstream, c->platforms[i].name))
			strset_add(out, c->platforms[i].name);
	strset_sort(out);
}

static bool field_differs(const struct config_type *type, const void *a, const void *b)
{
	if (!type->is_owned)
		return type->most ? *(const uint64_t *)a != *(const uint64_t *)b : *(const bool *)a != *(const bool *)b;
	const char *left = *(const char *const *)a, *right = *(const char *const *)b;
	return strcmp(left ? left : "", right ? right : "") != 0;
}

static void note_changed_key(const struct config_option *row, const char *section, const void *before, const void *now,
	config_key_fn *fn, void *ctx)
{
	if (row->effect == CONFIG_RESTART && field_differs(row->setting, (const char *)before + row->offset,
						     (const char *)now + row->offset))
		fn(ctx, section, row->key);
}

// Of upstreams those that both have: see config_keep_upstreams().
void config_restart_keys(const struct config *before, const struct config *now, config_key_fn *fn, void *ctx)
{
	for (size_t i = 0; i < config_options; i++) {
		const struct config_option *row = &config_table[i];
		if (row->holder == CONFIG_HOLDER_CONFIG)
			note_changed_key(row, row->section, before, now, fn, ctx);
		for (size_t k = 0; k < before->upstreams.count && row->holder == CONFIG_HOLDER_UPSTREAM; k++) {
			const struct config_upstream *u = &before->upstreams.item[k];
			const struct config_upstream *other = config_upstreams_named(&now->upstreams, u->name);
			CLEANUP(mem_free) char *section = xasprintf("upstream %s", u->name);
			if (other)
				note_changed_key(row, is_plain(u) ? plain_upstream : section, u, other, fn, ctx);
		}
	}
}

// --- what a mistyped name was meant to be ---

// Finds the rows, sections and views that mistyped names were meant to be.
const char *config_suggest_key(struct str section, const char *typed)
{
	struct suggest n;
	suggest_init(&n, str_from(typed));
	for (size_t i = 0; i < config_options; i++)
		if (!section.len || str_eq(section, str_from(config_table[i].section)))
			suggest_add(&n, config_table[i].key);
	return n.word;
}

int config_refuse_view(const struct config *c, const char *name, enum err_kind kind, struct err *e)
{
	CLEANUP(name_choice_release) struct name_choice names;
	name_choice_init(&names, str_from(name));
	for (size_t i = 0; i < c->view_count; i++)
		name_choice_add(&names, c->views[i].name);
	return name_choice_refuse(&names, kind, "the configuration has no view", e);
}
