// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/wheel.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/base/search.h"
#include "lib/domain/archive/member-hashes.h"
#include "lib/domain/archive/memberpath.h"
#include "lib/domain/archive/zipdirectory.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/domain/archive/zipwire.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/text/specifier.h"
#include "lib/domain/wheel/distinfo.h"
#include "lib/domain/wheel/record.h"

// --- what installs ---
//
// A digest of all of a wheel that decides what pip and uv install from it. Any thread.

static bool is_member_before(const void *element, const void *key)
{
	return str_cmp((*(const struct zipmember *const *)element)->name, *(const struct str *)key) < 0;
}

// What is in a folder stands behind it, by name.
static bool is_empty_folder(const struct zipdirectory *zip, const struct zipmember *m)
{
	size_t at = lower_bound(&m->name, zip->by_name, zip->count, sizeof(zip->by_name[0]), is_member_before);
	return at + 1 == zip->count || !str_starts(zip->by_name[at + 1]->name, m->name);
}

static const char *mark_of(const struct zipmember *m)
{
	static const char *const mark[2][2] = {{"", "u"}, {"p", "x"}};
	bool with_pip = S_ISREG(m->attributes) && (m->attributes & 0111), with_uv = m->mode & 0111;
	return m->is_folder ? "" : mark[with_pip][with_uv];
}

// Whether there are members of several schemes; order becomes the digest of their names.
static bool mixes_schemes(const struct zipdirectory *zip, uint8_t order[SHA256_SIZE])
{
	CLEANUP(digest_cleanup) struct digest *digest = digest_new();
	struct str first = STR("");
	bool mixes = false;
	digest_begin(digest);
	for (size_t i = 0; i < zip->count; i++) {
		// "purelib" of "NAME-VERSION.data/purelib/…". Empty: the member is not in a .data folder.
		const struct zipmember *m = &zip->members[i];
		struct str rest = m->name, top = str_cut(&rest, '/');
		struct str scheme = rest.ptr && str_ends(top, STR(".data")) ? str_cut(&rest, '/') : STR("");
		if (!scheme.len || zip->members[i].is_folder)
			continue;
		first = first.len ? first : scheme;
		mixes |= !str_eq(first, scheme);
		digest_add(digest, zip->members[i].name.ptr, zip->members[i].name.len);
		digest_add(digest, "\n", 1);
	}
	digest_end(digest, order);
	return mixes;
}

// SHA-256 of sorted lines "<sha256><mark> <name>\n". The mark is "x" for a member that pip and uv make executable, "p"
// and "u" for one of which only pip or uv does so, and else empty. Folders are left out but for those without members,
// which uv makes. If the .data folder has members of several schemes, a further line has the digest of their names in
// order, the mark "o" and the name ".data": of two members for one place pip installs the last. So time stamps and
// compression do not count, nor does the order elsewhere.
// ERR_INVALID: clients differ in what the name of a member is, or two names may be one place; such a wheel has no
// digest.
static int installed_content_digest(const struct member_hashes *c, const struct zipdirectory *zip,
	uint8_t out[SHA256_SIZE], struct err *e)
{
	uint8_t order[SHA256_SIZE];
	CLEANUP(mem_free) struct member_line *line = xcalloc(zip->count + 1, sizeof(*line));
	size_t count = 0;
	for (size_t i = 0; i < zip->count; i++) {
		const struct zipmember *m = &zip->members[i];
		struct str path = m->is_folder ? str_slice(m->name, 0, m->name.len - 1) : m->name;
		if (str_find(m->name, '\n') >= 0)
			return err_set(e, ERR_INVALID, "the name of a member has a line end");
		// Python reads it as code page 437, uv as UTF-8.
		if (!(m->flags & ZIP_FLAG_UTF8) && !str_is_ascii(m->name))
			return err_set(e, ERR_INVALID, "the name " STR_FMT " is neither ASCII nor marked as UTF-8",
				STR_ARG(m->name));
		if (memberpath_leads_out(path) || !memberpath_is_plain(path) || str_find(path, '\\') >= 0)
			return err_set(e, ERR_INVALID, "the path " STR_FMT " has other spellings", STR_ARG(m->name));
		if (!m->is_folder || is_empty_folder(zip, m))
			line[count++] = (struct member_line){c->sha256[i], mark_of(m), m->name};
	}
	if (mixes_schemes(zip, order))
		line[count++] = (struct member_line){order, "o", STR(".data")};
	member_lines_digest(line, count, out);
	return 0;
}

// --- RECORD ---
//
// Compares RECORD with the members of its wheel. A pure function; any thread.

struct record_check {
	const struct zipmember *record;
	const struct zipdirectory *zip;
	const struct member_hashes *contents;
	enum strictness strictness;
	struct findings *findings;
	bool *seen;      // one per member
	struct buf path; // path of a row, in the spelling of members
	bool has_better; // a hash that is not compared was seen
};

static void record_check_release(struct record_check *c)
{
	mem_free(&c->seen);
	buf_release(&c->path);
}

// Whether the member is RECORD, RECORD.jws or RECORD.p7s, which cannot list themselves.
static bool is_exempt(const struct record_check *c, struct str name)
{
	static const struct str ending[] = {STR(""), STR(".jws"), STR(".p7s")};
	if (!str_starts(name, c->record->name))
		return false;
	struct str rest = str_slice(name, c->record->name.len, name.len);
	for (size_t i = 0; i < ARRAY_SIZE(ending); i++)
		if (str_eq(rest, ending[i]))
			return true;
	return false;
}

// A row may have "\" instead of "/", and uv accepts "./" in front.
static struct str spell_as_member(struct record_check *c, struct str path)
{
	if (str_starts(path, STR("./")))
		path = str_slice(path, 2, path.len);
	if (str_find(path, '\\') < 0)
		return path;
	buf_clear(&c->path);
	buf_str(&c->path, path);
	for (size_t i = 0; i < c->path.len; i++)
		if (c->path.data[i] == '\\')
			c->path.data[i] = '/';
	return buf_view(&c->path);
}

static int report_row(struct record_check *c, const struct record_row *row, const char *what, struct err *e)
{
	if (findings_add_or_fail(c->findings, c->strictness, e, "RECORD line %zu: %s", row->line, what) < 0)
		return -1;
	if (!findings_are_full(c->findings))
		return 0;
	return err_set(e, ERR_LIMIT, "RECORD line %zu: too many findings, the rest is not checked", row->line);
}

static int check_row(void *ctx, const struct record_row *row, struct err *e)
{
	struct record_check *c = ctx;
	struct str path = spell_as_member(c, row->path);
	const struct zipmember *member = zipdirectory_find(c->zip, path);
	if (!member || member->is_folder)
		return report_row(c, row, "lists a path that is not a file of the wheel", e);
	size_t index = (size_t)(member - c->zip->members);
	if (c->seen[index] && report_row(c, row, "lists a file again", e) < 0)
		return -1;
	c->seen[index] = true;
	if (is_exempt(c, path))
		return 0;
	uint64_t size;
	if (!decimal_parse(row->size, UINT64_MAX, &size) || size != member->size) {
		if (report_row(c, row, "size differs from that of the file", e) < 0)
			return -1;
	}
	uint8_t sha256[SHA256_SIZE];
	enum record_hash kind = record_hash_decode(row->hash, sha256);
	if (kind == RECORD_HASH_NONE)
		return report_row(c, row, "no hash", e);
	if (kind == RECORD_HASH_BAD)
		return report_row(c, row, "hash is malformed, or not sha256, sha384, sha512", e);
	c->has_better |= kind == RECORD_HASH_BETTER;
	if (kind == RECORD_HASH_SHA256 && c->contents && memcmp(sha256, c->contents->sha256[index], SHA256_SIZE) != 0)
		return report_row(c, row, "hash differs from that of the file", e);
	return 0;
}

// record is the member RECORD, text its content. Each file except RECORD and its signatures must be listed once, with
// its size and a well-formed hash. A fault is ERR_INVALID under STRICT and a finding under LENIENT. If contents is not
// NULL, the hashes are compared with it.
static int recordcheck(struct str text, const struct zipmember *record, const struct zipdirectory *zip,
	const struct member_hashes *contents, enum strictness strictness, struct findings *findings, struct err *e)
{
	CLEANUP(record_check_release)
	struct record_check c = {
		.record = record,
		.zip = zip,
		.contents = contents,
		.strictness = strictness,
		.findings = findings,
		.seen = xcalloc(zip->count, sizeof(bool)),
	};
	struct err why = ERR_INIT;
	buf_init(&c.path, LIMIT_RECORD);
	if (record_foreach(text, check_row, &c, &why) < 0 &&
		findings_add_or_fail(findings, strictness, e, "%s", why.msg) < 0)
		return -1;
	if (c.has_better)
		findings_add(findings, "RECORD has sha384 or sha512 hashes: not compared");
	for (size_t i = 0; i < c.zip->count; i++) {
		const struct zipmember *m = &c.zip->members[i];
		if (c.seen[i] || m->is_folder || is_exempt(&c, m->name))
			continue;
		if (findings_add_or_fail(c.findings, c.strictness, e, "RECORD does not list " STR_FMT,
			    STR_ARG(m->name)) < 0)
			return -1;
		if (findings_are_full(c.findings))
			return 0;
	}
	return 0;
}

// --- the wheel ---

enum { READ_WHOLE = 256 << 10 }; // a file up to this size is one read

struct wheel_examination {
	const struct byte_source *source;
	const struct filename *name;
	enum strictness strictness;
	struct zipdirectory zip;
	struct str folder; // "<name>-<version>.dist-info"
	struct member_hashes contents;
	struct wheel *out;
};

void wheel_init(struct wheel *w)
{
	*w = (struct wheel){0};
	buf_init(&w->metadata, LIMIT_METADATA);
	findings_init(&w->findings);
}

void wheel_release(struct wheel *w)
{
	buf_release(&w->metadata);
	findings_release(&w->findings);
	free(w->requires_python);
	w->requires_python = NULL;
}

int wheel_take_metadata(struct wheel *w, enum strictness strictness, struct metadata *facts, struct err *e)
{
	digest_sha256(buf_view(&w->metadata), w->metadata_sha256);
	if (metadata_parse(buf_view(&w->metadata), strictness, &w->findings, facts, e) < 0)
		return -1;
	// Without the field the page offers the file to more Pythons. The installer still reads it in
	// METADATA.
	if (facts->requires_python.len > LIMIT_REQUIRES_PYTHON)
		findings_add(&w->findings, "core metadata: Requires-Python is omitted: %zu bytes, more than %d",
			facts->requires_python.len, LIMIT_REQUIRES_PYTHON);
	else if (facts->requires_python.len && str_find(facts->requires_python, '\0') < 0 &&
		 specifier_set_is_valid(facts->requires_python))
		w->requires_python = xstrndup(facts->requires_python.ptr, facts->requires_python.len);
	else if (facts->requires_python.len)
		findings_add(&w->findings, "core metadata: Requires-Python is not a set of specifiers");
	return 0;
}

static void wheel_examination_release(struct wheel_examination *x)
{
	zipdirectory_release(&x->zip);
	member_hashes_release(&x->contents);
}

static int report_missing(struct wheel_examination *x, const char *name, struct err *e)
{
	return findings_add_or_fail(&x->out->findings, x->strictness, e, "no %s in " STR_FMT, name, STR_ARG(x->folder));
}

static int check_metadata(struct wheel_examination *x, struct err *e)
{
	struct wheel *out = x->out;
	const struct zipmember *m = distinfo_member(&x->zip, x->folder, "METADATA");
	struct metadata facts;
	if (!m)
		return err_set(e, ERR_INVALID, "no METADATA in " STR_FMT, STR_ARG(x->folder));
	if (zipread_whole(x->source, m, &out->metadata, e) < 0)
		return -1;
	if (wheel_take_metadata(out, x->strictness, &facts, e) < 0)
		return -1;
	if (!distinfo_is_project(facts.name, x->name))
		return err_set(e, ERR_INVALID, "METADATA: its Name is not %s", x->name->project);
	if (!distinfo_is_version(facts.version, x->name))
		return err_set(e, ERR_INVALID, "METADATA: its Version is not %s", x->name->version.text);
	return 0;
}

static int check_wheelfile(struct wheel_examination *x, struct err *e)
{
	const struct zipmember *m = distinfo_member(&x->zip, x->folder, "WHEEL");
	if (!m)
		return report_missing(x, "WHEEL", e);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_METADATA);
	if (zipread_whole(x->source, m, &text, e) < 0)
		return -1;
	return wheelfile_check(buf_view(&text), x->name, x->strictness, &x->out->findings, e);
}

static int check_record(struct wheel_examination *x, struct err *e)
{
	const struct zipmember *m = distinfo_member(&x->zip, x->folder, "RECORD");
	if (!m)
		return report_missing(x, "RECORD", e);
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_RECORD);
	if (zipread_whole(x->source, m, &text, e) < 0)
		return -1;
	const struct member_hashes *contents = x->strictness == STRICT ? &x->contents : NULL;
	return recordcheck(buf_view(&text), m, &x->zip, contents, x->strictness, &x->out->findings, e);
}

// The digest is of lines: such a name could stand for two members.
static bool has_line_ends(const struct zipdirectory *zip)
{
	for (size_t i = 0; i < zip->count; i++)
		if (str_find(zip->members[i].name, '\n') >= 0)
			return true;
	return false;
}

static int check_contents(struct wheel_examination *x, struct err *e)
{
	if (x->strictness != STRICT)
		return 0;
	if (member_hashes_read(x->source, &x->zip, &x->contents, e) < 0)
		return -1;
	member_hashes_digest(&x->contents, &x->zip, x->out->content_sha256);
	x->out->has_content = !has_line_ends(&x->zip);
	struct err unclear = ERR_INIT;
	x->out->has_installed =
		installed_content_digest(&x->contents, &x->zip, x->out->installed_sha256, &unclear) == 0;
	return 0;
}

static int check_paths(struct wheel_examination *x, struct err *e)
{
	struct findings *findings = &x->out->findings;
	if (distinfo_check_paths(&x->zip, x->strictness, findings, e) < 0)
		return -1;
	return distinfo_find(&x->zip, x->name, x->strictness, findings, &x->folder, e);
}

static int examine_wheel(const struct byte_source *bytes, const struct filename *name, enum strictness strictness,
	struct wheel *out, struct err *e)
{
	// Cheap steps come first. All bytes are read only after the framing is checked. RECORD comes after the members
	// are hashed.
	static int (*const steps[])(struct wheel_examination *, struct err *) = {
		check_paths, check_metadata, check_wheelfile, check_contents, check_record};
	CLEANUP(wheel_examination_release)
	struct wheel_examination x = {.source = bytes, .name = name, .strictness = strictness, .out = out};
	if (zipframe_read(bytes, strictness, &out->findings, &x.zip, e) < 0)
		return -1;
	for (size_t i = 0; i < ARRAY_SIZE(steps); i++)
		if (steps[i](&x, e) < 0)
			return -1;
	return 0;
}

int wheel_examine(const struct byte_source *bytes, const struct filename *name, enum strictness strictness,
	struct wheel *out, struct err *e)
{
	if (bytes->memory || bytes->size > READ_WHOLE)
		return examine_wheel(bytes, name, strictness, out, e);
	size_t size = (size_t)bytes->size;
	CLEANUP(mem_free) char *whole = xmalloc(size);
	if (byte_source_read(bytes, 0, whole, size, e) < 0)
		return -1;
	struct byte_source memory = byte_source_memory((struct str){whole, size});
	return examine_wheel(&memory, name, strictness, out, e);
}

static int check_unpacked(const struct byte_source *bytes, const struct zipdirectory *zip, struct err *e)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < zip->count; i++)
		sum = zip->members[i].size > UINT64_MAX - sum ? UINT64_MAX : sum + zip->members[i].size;
	if (sum > LIMIT_UNPACKED && sum / LIMIT_UNPACKED_RATIO > bytes->size)
		return err_set(e, ERR_LIMIT, "its members have more than %d times its size", LIMIT_UNPACKED_RATIO);
	return 0;
}

int wheel_content(const struct byte_source *bytes, uint8_t content_sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(zipdirectory_release) struct zipdirectory zip = {0};
	CLEANUP(findings_release) struct findings ignored;
	struct member_hashes hashes = {0};
	findings_init(&ignored);
	if (zipframe_read(bytes, LENIENT, &ignored, &zip, e) < 0 || check_unpacked(bytes, &zip, e) < 0 ||
		member_hashes_read(bytes, &zip, &hashes, e) < 0)
		return -1;
	int result = installed_content_digest(&hashes, &zip, content_sha256, e);
	member_hashes_release(&hashes);
	return result;
}

// --- WHEEL ---

// Expanded tags, lower case; owned.
struct taglist {
	char **tags;
	size_t count, room;
};

static void taglist_release(struct taglist *list)
{
	for (size_t i = 0; i < list->count; i++)
		free(list->tags[i]);
	free(list->tags);
}

static int taglist_add(void *ctx, struct str tag, struct err *e)
{
	struct taglist *list = ctx;
	if (list->count == LIMIT_TAGS)
		return err_set(e, ERR_LIMIT, "more than %d tags", LIMIT_TAGS);
	GROW(list->tags, list->count, list->room);
	list->tags[list->count++] = xstrndup(tag.ptr, tag.len);
	return 0;
}

// Adds the tags of one "Tag: python-abi-platform" line. Its parts may be compressed sets, as in a file name.
static int taglist_add_line(struct taglist *list, struct str value, struct err *e)
{
	struct filename parts = {0};
	struct str rest = str_trim(value);
	parts.python = str_cut(&rest, '-');
	parts.abi = rest.ptr ? str_cut(&rest, '-') : STR("");
	parts.platform = rest.ptr ? rest : STR("");
	return filename_tags(&parts, taglist_add, list, e);
}

static int compare_tags(const void *a, const void *b)
{
	const char *const *left = a, *const *right = b;
	return str_cmp(str_from(*left), str_from(*right));
}

// Sorts the tags and removes duplicates.
static void taglist_tidy(struct taglist *list)
{
	size_t kept = 0;
	if (list->count)
		qsort(list->tags, list->count, sizeof(*list->tags), compare_tags);
	for (size_t i = 0; i < list->count; i++) {
		if (kept && compare_tags(&list->tags[kept - 1], &list->tags[i]) == 0)
			free(list->tags[i]);
		else
			list->tags[kept++] = list->tags[i];
	}
	list->count = kept;
}

// Whether the Tag lines expand to exactly the tags of the file name. Lines that expand to too many tags do not, because
// a file name is short.
static bool tags_agree(struct str text, struct taglist *ours)
{
	CLEANUP(taglist_release) struct taglist theirs = {0};
	struct rfc822_field field;
	struct err ignored = ERR_INIT;
	while (rfc822_fields_next(&text, &field))
		if (str_eq_nocase(field.name, STR("Tag")) && taglist_add_line(&theirs, field.value, &ignored) < 0)
			return false;
	taglist_tidy(ours);
	taglist_tidy(&theirs);
	bool same = ours->count == theirs.count;
	for (size_t i = 0; same && i < ours->count; i++)
		same = compare_tags(&ours->tags[i], &theirs.tags[i]) == 0;
	return same;
}

int wheelfile_check(struct str text, const struct filename *name, enum strictness strictness, struct findings *findings,
	struct err *e)
{
	struct str version = STR("");
	if (!rfc822_fields_first(text, STR("Wheel-Version"), &version)) {
		if (findings_add_or_fail(findings, strictness, e, "WHEEL: no Wheel-Version") < 0)
			return -1;
	} else if (!str_starts(version, STR("1."))) { // pip: "please upgrade pip"
		return err_set(e, ERR_INVALID, "WHEEL: unknown Wheel-Version");
	}
	CLEANUP(taglist_release) struct taglist ours = {0};
	struct err why = ERR_INIT;
	if (filename_tags(name, taglist_add, &ours, &why) < 0)
		findings_add(findings, "WHEEL: tags not compared; those of the file name: %s", why.msg);
	else if (!tags_agree(text, &ours))
		findings_add(findings, "WHEEL: tags differ from those of the file name");
	return 0;
}
