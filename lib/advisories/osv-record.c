// SPDX-License-Identifier: Apache-2.0
#include "lib/advisories/osv-record.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/limits.h"
#include "lib/domain/text/cvss.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/version.h"
#include "lib/format/json-sax.h"
#include "lib/os/clock.h"

// In the order in which events of the same version count, as the OSV database's own search has it.
enum event_kind { EVENT_INTRODUCED, EVENT_LAST_AFFECTED, EVENT_FIXED, EVENT_LIMIT, EVENT_COUNT };

static const struct str event_name[EVENT_COUNT] = {
	STR("introduced"), STR("last_affected"), STR("fixed"), STR("limit")};

struct osv_event {
	struct str key; // empty: before the first version
	enum event_kind kind;
};

// Which keys of the record were there.
enum seen_key { SEEN_ID = 1, SEEN_MODIFIED = 2, SEEN_WITHDRAWN = 4, SEEN_AFFECTED = 8 };

struct osv_reading {
	struct arena *arena;
	struct osv_record *out;
	unsigned seen;
	bool is_object;
	size_t affected_room, parts; // parts: versions and events of the record
	int word;                    // of database_specific.severity
	// Of the package that is read.
	struct osv_affected now;
	bool is_open;
	struct str ecosystem, name;
	struct osv_affected crate; // its ranges of the type SEMVER
	bool crate_is_wrong;
	size_t range_room, crate_room, version_room, other_room;
	// Of the range that is read.
	struct osv_event *event;
	size_t events, event_room;
	struct str type;
	unsigned event_keys; // of the event that is read
};

static void blame(struct osv_reading *r, const char *why)
{
	if (!r->out->wrong)
		r->out->wrong = why;
}

bool osv_id_is_valid(struct str id)
{
	if (!id.len || id.len > LIMIT_ADVISORY_ID)
		return false;
	for (size_t i = 0; i < id.len; i++)
		if (id.ptr[i] <= ' ' || id.ptr[i] >= 0x7f || id.ptr[i] == '/')
			return false;
	return true;
}

struct str osv_version_key(struct str version, struct arena *a)
{
	struct version v;
	struct err none = ERR_INIT;
	if (!version_is_valid(version) || version_parse(str_cut(&version, '+'), &v, &none) < 0)
		return (struct str){0};
	struct str key = {arena_copy(a, v.key), v.key.len};
	version_release(&v);
	return key;
}

// --- ranges ---

static int compare_events(const void *a, const void *b)
{
	const struct osv_event *x = a, *y = b;
	int order = str_cmp(x->key, y->key);
	return order ? order : (int)x->kind - (int)y->kind;
}

// limit: empty if there is none.
static void add_range(struct osv_reading *r, bool is_crate, struct osv_range range, struct str limit)
{
	struct osv_affected *to = is_crate ? &r->crate : &r->now;
	size_t *room = is_crate ? &r->crate_room : &r->range_room;
	if (limit.len && str_cmp(range.from, limit) >= 0)
		return;
	if (limit.len && (!range.to.len || str_cmp(range.to, limit) >= 0))
		range = (struct osv_range){range.from, limit, false};
	if (range.to.len && !range.includes_to && str_cmp(range.from, range.to) >= 0)
		return;
	ARENA_GROW(r->arena, to->range, to->ranges, *room);
	to->range[to->ranges++] = range;
}

// "Events" of the specification: a version is affected from `introduced` on, until an event ends that.
static void end_range(struct osv_reading *r, bool is_crate)
{
	struct str limit = {0};
	struct osv_range range = {0};
	bool is_affected = false, has_begin = false;
	if (r->events)
		qsort(r->event, r->events, sizeof(*r->event), compare_events);
	for (size_t i = 0; i < r->events; i++)
		if (r->event[i].kind == EVENT_LIMIT)
			limit = r->event[i].key; // the last one is the greatest
	for (size_t i = 0; i < r->events; i++) {
		const struct osv_event *x = &r->event[i];
		if (x->kind == EVENT_INTRODUCED) {
			range = is_affected ? range : (struct osv_range){.from = x->key};
			is_affected = has_begin = true;
		} else if (x->kind != EVENT_LIMIT && is_affected) {
			add_range(r, is_crate, (struct osv_range){range.from, x->key, x->kind == EVENT_LAST_AFFECTED}, limit);
			is_affected = false;
		}
	}
	if (is_affected)
		add_range(r, is_crate, range, limit);
	if (is_crate)
		r->crate_is_wrong |= !has_begin;
	else if (!has_begin)
		blame(r, "a range begins nowhere");
}

static bool takes_part(struct osv_reading *r)
{
	if (++r->parts > LIMIT_ADVISORY_VERSIONS)
		blame(r, "too many versions and ranges");
	return r->parts <= LIMIT_ADVISORY_VERSIONS;
}

static void add_event(struct osv_reading *r, enum event_kind kind, struct str text)
{
	r->event_keys++;
	// "0.0.0-0" is the first pre-release of crates.
	bool is_first = kind == EVENT_INTRODUCED && (str_eq(text, STR("0")) || str_eq(text, STR("0.0.0-0")));
	struct str key = is_first || text.len > LIMIT_FILE_NAME ? (struct str){0} : osv_version_key(text, r->arena);
	if ((!key.len && kind != EVENT_INTRODUCED) || !takes_part(r))
		return;
	ARENA_GROW(r->arena, r->event, r->events, r->event_room);
	r->event[r->events++] = (struct osv_event){key, kind};
}

// --- packages ---

static void add_version(struct osv_reading *r, struct str text)
{
	struct osv_affected *to = &r->now;
	if (text.len > LIMIT_FILE_NAME || !takes_part(r)) // no file has a longer one
		return;
	struct str key = osv_version_key(text, r->arena);
	if (key.len) {
		ARENA_GROW(r->arena, to->version, to->versions, r->version_room);
		to->version[to->versions++] = key;
	} else {
		ARENA_GROW(r->arena, to->other, to->others, r->other_room);
		to->other[to->others++] = text;
	}
}

static void begin_affected(struct osv_reading *r)
{
	r->now = r->crate = (struct osv_affected){0};
	r->crate_is_wrong = false;
	r->ecosystem = r->name = r->type = (struct str){0};
	r->range_room = r->crate_room = r->version_room = r->other_room = 0;
	r->is_open = true;
}

// Of a purl. "The ecosystem may have a suffix behind a colon." Empty: nothing is kept of it.
static struct str type_of_ecosystem(struct str ecosystem)
{
	struct str name = str_cut(&ecosystem, ':');
	return str_eq(name, STR("PyPI")) ? STR("pypi") : str_eq(name, STR("crates.io")) ? STR("cargo") : STR("");
}

struct str osv_project(struct str type, struct str name, struct arena *a)
{
	CLEANUP(buf_release) struct buf out = buf_up_to(LIMIT_FILE_NAME);
	if (!name_is_valid(name))
		return (struct str){0};
	if (str_eq_nocase(type, STR("pypi")))
		name_normalize(name, &out);
	else if (str_eq_nocase(type, STR("cargo")))
		buf_printf(&out, "pkg:cargo/" STR_FMT, STR_ARG(name));
	return out.failed ? (struct str){0} : (struct str){arena_copy(a, buf_view(&out)), out.len};
}

// Ranges of the type SEMVER count for crates only.
static void take_crate_ranges(struct osv_reading *r)
{
	for (size_t i = 0; i < r->crate.ranges; i++) {
		ARENA_GROW(r->arena, r->now.range, r->now.ranges, r->range_room);
		r->now.range[r->now.ranges++] = r->crate.range[i];
	}
	r->now.has_range |= r->crate.has_range;
	if (r->crate_is_wrong)
		blame(r, "a range begins nowhere");
}

static void end_affected(struct osv_reading *r)
{
	struct osv_record *out = r->out;
	struct str type = type_of_ecosystem(r->ecosystem);
	r->is_open = false;
	if (!type.len)
		return;
	r->now.project = osv_project(type, r->name, r->arena);
	if (!r->now.project.len) {
		blame(r, "a package has no valid name");
		return;
	}
	if (str_eq(type, STR("cargo")))
		take_crate_ranges(r);
	ARENA_GROW(r->arena, out->affected, out->count, r->affected_room);
	out->affected[out->count++] = r->now;
}

// --- what the parser hands over ---

static bool has_key(const struct json_sax_value *v, size_t level, struct str key)
{
	return str_eq(v->key[level], key);
}

static struct str text_of(struct osv_reading *r, const struct json_sax_value *v, const char *wrong)
{
	if (v->kind == JSON_SAX_STRING)
		return v->text;
	blame(r, wrong);
	return (struct str){0};
}

static void set_once(struct osv_reading *r, struct str *field, const struct json_sax_value *v, const char *wrong)
{
	if (field->ptr)
		blame(r, wrong);
	*field = text_of(r, v, wrong);
}

// RFC 3339 in UTC, as the schema wants it. False: it is none.
static bool read_modified(struct str text, int64_t *ns)
{
	enum { SECONDS = CLOCK_TEXT - 2 }; // up to the "Z"
	char whole[CLOCK_TEXT] = "";
	int64_t seconds, unit = 100000000, part = 0;
	if (text.len <= SECONDS || text.ptr[text.len - 1] != 'Z')
		return false;
	memcpy(whole, text.ptr, SECONDS);
	whole[SECONDS] = 'Z';
	struct str rest = str_slice(text, SECONDS, text.len - 1);
	if (rest.len == 1 || (rest.len && rest.ptr[0] != '.'))
		return false;
	for (size_t i = 1; i < rest.len; i++, unit /= 10) {
		if (!ascii_is_digit(rest.ptr[i]))
			return false;
		part += unit * (rest.ptr[i] - '0');
	}
	if (!clock_read(whole, &seconds) || seconds > INT64_MAX / 1000000000 - 1)
		return false;
	*ns = seconds * 1000000000 + part;
	return true;
}

static void see_once(struct osv_reading *r, enum seen_key key)
{
	if (r->seen & key)
		blame(r, "a key is there twice");
	r->seen |= key;
}

static void on_record_key(struct osv_reading *r, const struct json_sax_value *v)
{
	struct osv_record *out = r->out;
	if (v->kind == JSON_SAX_OBJECT_END || v->kind == JSON_SAX_ARRAY_END)
		return;
	if (has_key(v, 0, STR("id"))) {
		see_once(r, SEEN_ID);
		struct str id = text_of(r, v, "its id is no text");
		if (osv_id_is_valid(id) && !out->id.len)
			out->id = id;
	} else if (has_key(v, 0, STR("modified"))) {
		see_once(r, SEEN_MODIFIED);
		if (!read_modified(text_of(r, v, "modified is no time"), &out->modified))
			blame(r, "modified is no time");
	} else if (has_key(v, 0, STR("withdrawn")) && v->kind != JSON_SAX_NULL) {
		int64_t ignored;
		see_once(r, SEEN_WITHDRAWN);
		out->is_withdrawn = read_modified(text_of(r, v, "withdrawn is no time"), &ignored);
		if (!out->is_withdrawn)
			blame(r, "withdrawn is no time");
	} else if (has_key(v, 0, STR("affected")) && v->kind != JSON_SAX_NULL) {
		see_once(r, SEEN_AFFECTED);
		if (v->kind != JSON_SAX_ARRAY)
			blame(r, "affected is no array");
	}
}

static void add_score(struct osv_reading *r, const struct json_sax_value *v)
{
	int score = v->kind == JSON_SAX_STRING ? cvss_base_score(v->text) : CVSS_NONE;
	if (score > r->out->severity)
		r->out->severity = score;
}

static void on_word(struct osv_reading *r, const struct json_sax_value *v)
{
	static const struct {
		struct str word;
		int least;
	} words[] = {{STR("LOW"), 1}, {STR("MODERATE"), 40}, {STR("MEDIUM"), 40}, {STR("HIGH"), 70},
		{STR("CRITICAL"), 90}};
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		if (v->kind == JSON_SAX_STRING && str_eq_nocase(v->text, words[i].word))
			r->word = words[i].least;
}

static void on_second_level(struct osv_reading *r, const struct json_sax_value *v)
{
	if (has_key(v, 0, STR("affected"))) {
		if (v->kind == JSON_SAX_OBJECT)
			begin_affected(r);
		else if (v->kind == JSON_SAX_OBJECT_END)
			end_affected(r);
		else
			blame(r, "affected has more than objects");
	} else if (has_key(v, 0, STR("database_specific")) && has_key(v, 1, STR("severity"))) {
		on_word(r, v);
	}
}

static void on_affected_key(struct osv_reading *r, const struct json_sax_value *v)
{
	static const struct {
		struct str key;
		const char *wrong;
		enum json_sax_kind kind, end;
	} keys[] = {
		{STR("package"), "package is no object", JSON_SAX_OBJECT, JSON_SAX_OBJECT_END},
		{STR("versions"), "versions is no array", JSON_SAX_ARRAY, JSON_SAX_ARRAY_END},
		{STR("ranges"), "ranges is no array", JSON_SAX_ARRAY, JSON_SAX_ARRAY_END},
	};
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (has_key(v, 2, keys[i].key) && v->kind != keys[i].kind && v->kind != keys[i].end &&
			v->kind != JSON_SAX_NULL)
			blame(r, keys[i].wrong);
}

static void on_affected_value(struct osv_reading *r, const struct json_sax_value *v)
{
	if (has_key(v, 2, STR("package")) && has_key(v, 3, STR("ecosystem"))) {
		set_once(r, &r->ecosystem, v, "an ecosystem is no text");
	} else if (has_key(v, 2, STR("package")) && has_key(v, 3, STR("name"))) {
		set_once(r, &r->name, v, "a package has no valid name");
	} else if (has_key(v, 2, STR("versions")) && !v->key[3].ptr) {
		struct str version = text_of(r, v, "a version is no text");
		if (version.ptr)
			add_version(r, version);
	} else if (has_key(v, 2, STR("ranges")) && !v->key[3].ptr) {
		if (v->kind == JSON_SAX_OBJECT) {
			r->events = 0;
			r->type = (struct str){0};
		} else if (v->kind != JSON_SAX_OBJECT_END) {
			blame(r, "ranges has more than objects");
		} else if (str_eq(r->type, STR("ECOSYSTEM"))) {
			r->now.has_range = true;
			end_range(r, false);
		} else if (str_eq(r->type, STR("SEMVER"))) {
			r->crate.has_range = true;
			end_range(r, true);
		} else if (!r->type.ptr) {
			blame(r, "a range has no type");
		}
	}
}

static void on_event(struct osv_reading *r, const struct json_sax_value *v)
{
	if (v->kind == JSON_SAX_OBJECT)
		r->event_keys = 0;
	else if (v->kind != JSON_SAX_OBJECT_END)
		blame(r, "events has more than objects");
	else if (r->event_keys != 1)
		blame(r, "an event is not one version");
}

static void on_event_key(struct osv_reading *r, const struct json_sax_value *v)
{
	for (enum event_kind kind = 0; kind < EVENT_COUNT; kind++)
		if (has_key(v, 6, event_name[kind])) {
			struct str text = text_of(r, v, "the version of an event is no text");
			if (text.ptr)
				add_event(r, kind, text);
		}
}

static void on_osv_value(void *ctx, const struct json_sax_value *v)
{
	struct osv_reading *r = ctx;
	bool is_affected = v->depth > 2 && r->is_open && has_key(v, 0, STR("affected")) && !v->key[1].ptr;
	bool is_event = is_affected && v->depth > 4 && has_key(v, 2, STR("ranges")) && !v->key[3].ptr;
	if (v->depth == 0)
		r->is_object = v->kind == JSON_SAX_OBJECT || v->kind == JSON_SAX_OBJECT_END;
	else if (!r->is_object)
		return;
	else if (v->depth == 1)
		on_record_key(r, v);
	else if (v->depth == 2)
		on_second_level(r, v);
	else if (v->depth == 3 && has_key(v, 0, STR("severity")) && has_key(v, 2, STR("score")))
		add_score(r, v);
	else if (v->depth == 3 && is_affected)
		on_affected_key(r, v);
	else if (v->depth == 4 && is_affected)
		on_affected_value(r, v);
	else if (v->depth == 5 && is_event && has_key(v, 4, STR("type")))
		set_once(r, &r->type, v, "the type of a range is no text");
	else if (v->depth == 5 && is_affected && has_key(v, 2, STR("severity")) && has_key(v, 4, STR("score")))
		add_score(r, v);
	else if (v->depth == 6 && is_event && has_key(v, 4, STR("events")))
		on_event(r, v);
	else if (v->depth == 7 && is_event && has_key(v, 4, STR("events")))
		on_event_key(r, v);
}

// --- the record ---

static void affect_whole(struct osv_reading *r, struct osv_affected *affected)
{
	affected->range = ARENA_NEW(r->arena, struct osv_range, 1);
	affected->ranges = 1;
	affected->versions = affected->others = 0;
}

// Doubt hides: a record that is wrong, and malware of which nothing but the name is told, mean all versions.
static void judge_record(struct osv_reading *r, struct str fallback)
{
	struct osv_record *out = r->out;
	if (!(r->seen & SEEN_MODIFIED))
		blame(r, "it has no modified");
	if (!out->id.len) {
		blame(r, "it has no valid id");
		out->id = osv_id_is_valid(fallback) ? fallback : STR("unnamed");
	}
	bool is_raw = str_starts(out->id, STR("MAL-0000-"));
	out->is_malicious = str_starts(out->id, STR("MAL-")) && !is_raw;
	out->count = is_raw && out->wrong ? 0 : out->count; // it hides nothing, whatever it says
	if (out->severity < 0)
		out->severity = r->word;
	for (size_t i = 0; i < out->count; i++) {
		struct osv_affected *a = &out->affected[i];
		if (out->wrong || (out->is_malicious && !a->has_range && !a->versions && !a->others))
			affect_whole(r, a);
	}
}

int osv_record_read(struct str text, struct str fallback, bool is_head, struct arena *a, struct osv_record *out,
	struct err *e)
{
	bool is_cut;
	struct err why = ERR_INIT;
	struct osv_reading r = {.arena = a, .out = out, .word = CVSS_NONE};
	*out = (struct osv_record){.severity = CVSS_NONE};
	if (is_head)
		blame(&r, "it is too large");
	if (json_sax_read(text, a, on_osv_value, &r, &is_cut, &why) < 0 && !is_head) {
		*e = why;
		return -1;
	}
	if (!r.is_object)
		return err_set(e, ERR_INVALID, "it is no JSON object");
	if (r.is_open)
		end_affected(&r);
	judge_record(&r, fallback);
	return 0;
}
