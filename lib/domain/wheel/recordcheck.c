// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/recordcheck.h"

#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/wheel/record.h"

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

static int check_hash(struct record_check *c, const struct record_row *row, size_t index, struct err *e)
{
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
	return check_hash(c, row, index, e);
}

static int check_complete(struct record_check *c, struct err *e)
{
	for (size_t i = 0; i < c->zip->count; i++) {
		const struct zipmember *m = &c->zip->members[i];
		if (c->seen[i] || m->is_folder || is_exempt(c, m->name))
			continue;
		if (findings_add_or_fail(c->findings, c->strictness, e, "RECORD does not list " STR_FMT,
			    STR_ARG(m->name)) < 0)
			return -1;
		if (findings_are_full(c->findings))
			return 0;
	}
	return 0;
}

int recordcheck(struct str text, const struct zipmember *record, const struct zipdirectory *zip,
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
	return check_complete(&c, e);
}
