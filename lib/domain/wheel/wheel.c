// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/wheel.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/domain/archive/member-hashes.h"
#include "lib/domain/archive/zipframe.h"
#include "lib/domain/archive/zipread.h"
#include "lib/domain/text/specifier.h"
#include "lib/domain/wheel/distinfo.h"
#include "lib/domain/wheel/installed-content.h"
#include "lib/domain/wheel/recordcheck.h"
#include "lib/domain/wheel/wheelfile.h"

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

// Without the field the page offers the file to more Pythons. The installer still reads it in METADATA.
static void take_requires_python(struct wheel *w, struct str text)
{
	if (text.len > LIMIT_REQUIRES_PYTHON)
		findings_add(&w->findings, "core metadata: Requires-Python is omitted: %zu bytes, more than %d",
			text.len, LIMIT_REQUIRES_PYTHON);
	else if (text.len && str_find(text, '\0') < 0 && specifier_set_is_valid(text))
		w->requires_python = xstrndup(text.ptr, text.len);
	else if (text.len)
		findings_add(&w->findings, "core metadata: Requires-Python is not a set of specifiers");
}

int wheel_take_metadata(struct wheel *w, enum strictness strictness, struct metadata *facts, struct err *e)
{
	digest_sha256(buf_view(&w->metadata), w->metadata_sha256);
	if (metadata_parse(buf_view(&w->metadata), strictness, &w->findings, facts, e) < 0)
		return -1;
	take_requires_python(w, facts->requires_python);
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
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	if (zipread_whole(x->source, m, &text, e) < 0)
		return -1;
	return wheelfile_check(buf_view(&text), x->name, x->strictness, &x->out->findings, e);
}

static int check_record(struct wheel_examination *x, struct err *e)
{
	const struct zipmember *m = distinfo_member(&x->zip, x->folder, "RECORD");
	if (!m)
		return report_missing(x, "RECORD", e);
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_RECORD);
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
	x->out->has_installed = installed_content_digest(&x->contents, &x->zip, x->out->installed_sha256, &unclear) == 0;
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
