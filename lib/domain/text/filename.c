// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/text/filename.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/buf.h"
#include "lib/base/charclass.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/pep440.h"
#include "lib/domain/text/pyspace.h"

static const struct ending {
	struct str text; // case matters
	enum filename_kind kind;
} endings[] = {
	{STR(".whl"), FILENAME_WHEEL},
	{STR(".tar.gz"), FILENAME_SDIST},
	{STR(".zip"), FILENAME_SDIST},
};

static const struct ending *find_ending(struct str filename)
{
	for (size_t i = 0; i < ARRAY_SIZE(endings); i++)
		if (str_ends(filename, endings[i].text))
			return &endings[i];
	return NULL;
}

enum filename_kind filename_kind(struct str filename)
{
	const struct ending *ending = find_ending(filename);
	return ending ? ending->kind : FILENAME_OTHER;
}

int filename_check(struct str filename, struct err *e)
{
	if (filename.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_INVALID, "file name longer than %d bytes", LIMIT_FILE_NAME);
	if (charclass_run(filename, CHARCLASS_NAME) == filename.len) // nearly all names
		return 0;
	for (size_t i = 0; i < filename.len; i++) {
		unsigned char c = (unsigned char)filename.ptr[i];
		if (c < ' ' || c == 0x7f || c == '/' || c == '\\')
			return err_set(e, ERR_INVALID, "file name has byte 0x%02x", c);
	}
	if (!str_is_utf8(filename))
		return err_set(e, ERR_INVALID, "file name is not UTF-8");
	if (pyspace_is_in(filename))
		return err_set(e, ERR_INVALID, "file name has a blank");
	return 0;
}

static char *normalized_project(struct str name)
{
	struct buf out = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(name, &out);
	return buf_steal(&out);
}

// Whether readers of PEP 427 accept this as an escaped name: [\w.]+ without "__". Python's \w knows the letters of all
// scripts. Here all bytes beyond ASCII count as letters, because the name is only compared and shown.
static bool is_escaped_name(struct str name)
{
	for (size_t i = 0; i < name.len; i++) {
		char c = name.ptr[i];
		bool beyond_ascii = (unsigned char)c >= 0x80;
		if (!beyond_ascii && !ascii_is_alnum(c) && c != '_' && c != '.')
			return false;
		if (c == '_' && i > 0 && name.ptr[i - 1] == '_')
			return false;
	}
	return name.len > 0;
}

static bool is_tag_set(struct str set)
{
	while (set.ptr)
		if (!str_cut(&set, '.').len)
			return false;
	return true;
}

// A Python tag does not start with a digit, so a build tag is never taken for one (PEP 427, PEP 425).
static bool is_python_tag_set(struct str set)
{
	while (set.ptr) {
		struct str s = str_cut(&set, '.');
		for (size_t i = 0; i < s.len; i++)
			if (!ascii_is_alnum(s.ptr[i]) && s.ptr[i] != '_')
				return false;
		if (!(s.len > 0 && !ascii_is_digit(s.ptr[0])))
			return false;
	}
	return true;
}

enum { WHEEL_PARTS = 5, WHEEL_PARTS_WITH_BUILD, WHEEL_PARTS_MAX = WHEEL_PARTS_WITH_BUILD };

// Returns the number of parts. It stops at the first part that does not fit and counts it.
static size_t split_parts(struct str stem, struct str part[WHEEL_PARTS_MAX])
{
	size_t count = 0;
	while (stem.ptr) {
		struct str next = str_cut(&stem, '-');
		if (count == WHEEL_PARTS_MAX)
			return count + 1;
		part[count++] = next;
	}
	return count;
}

static int parse_wheel(struct str stem, struct filename *f, struct err *e)
{
	struct str part[WHEEL_PARTS_MAX];
	size_t count = split_parts(stem, part);
	if (count != WHEEL_PARTS && count != WHEEL_PARTS_WITH_BUILD)
		return err_set(e, ERR_INVALID, "a wheel's name has 5 or 6 parts between dashes");
	f->stem = str_slice(stem, 0, part[0].len + 1 + part[1].len);
	if (count == WHEEL_PARTS_WITH_BUILD)
		f->build = part[2];
	f->python = part[count - 3];
	f->abi = part[count - 2];
	f->platform = part[count - 1];
	struct str name = part[0];
	bool has_build = count == WHEEL_PARTS_WITH_BUILD;
	if (!is_escaped_name(name))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a project name (PEP 427)", STR_ARG(name));
	if (has_build && !(f->build.len && ascii_is_digit(f->build.ptr[0])))
		return err_set(e, ERR_INVALID, "build tag \"" STR_FMT "\" does not start with a digit",
			STR_ARG(f->build));
	if (!is_python_tag_set(f->python))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a python tag", STR_ARG(f->python));
	if (!is_tag_set(f->abi))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not an ABI tag", STR_ARG(f->abi));
	if (!is_tag_set(f->platform))
		return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a platform tag", STR_ARG(f->platform));
	if (version_parse(part[1], &f->version, e) < 0)
		return -1;
	f->project = normalized_project(part[0]);
	return 0;
}

static int check_sdist_name(struct str name, struct err *e)
{
	if (name_is_valid(name))
		return 0;
	return err_set(e, ERR_INVALID, "\"" STR_FMT "\" is not a project name (PEP 508)", STR_ARG(name));
}

static int parse_sdist(struct str stem, struct filename *f, struct err *e)
{
	long dash = str_rfind(stem, '-');
	if (dash < 0)
		return err_set(e, ERR_INVALID, "an sdist's name has a dash before its version");
	struct str name = str_slice(stem, 0, (size_t)dash);
	if (check_sdist_name(name, e) < 0)
		return -1;
	if (version_parse(str_slice(stem, (size_t)dash + 1, stem.len), &f->version, e) < 0)
		return -1;
	f->stem = stem;
	f->project = normalized_project(name);
	return 0;
}

int filename_parse(struct str filename, struct filename *out, struct err *e)
{
	const struct ending *ending = find_ending(filename);
	if (!ending)
		return err_set(e, ERR_INVALID, "neither a wheel nor an sdist by its ending: .whl, .tar.gz or .zip");
	if (filename_check(filename, e) < 0)
		return -1;
	struct str stem = str_slice(filename, 0, filename.len - ending->text.len);
	struct filename f = {.kind = ending->kind};
	int rc = f.kind == FILENAME_WHEEL ? parse_wheel(stem, &f, e) : parse_sdist(stem, &f, e);
	if (rc == 0)
		*out = f;
	return rc;
}

void filename_release(struct filename *f)
{
	free(f->project);
	version_release(&f->version);
	*f = (struct filename){0};
}

// Whether the part of the stem before this dash is a spelling of the project.
static bool is_project_before(struct str stem, size_t dash, const char *project)
{
	CLEANUP(mem_free) char *before = normalized_project(str_slice(stem, 0, dash));
	return str_eq(str_from(before), str_from(project));
}

// Parses the version part of the file name if it can stand for the version that PKG-INFO states. "1.0.2-2" for 1.0.2 is
// a release of its own (1.0.2.post2); "1.2.2-pypi" for 1.2.2 is 1.2.2.
static int parse_stated_version(struct str part, struct str stated, struct version *out, struct err *e)
{
	CLEANUP(version_release) struct version meant = {0};
	if (stated.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_INVALID, "the version in PKG-INFO is longer than any file name");
	if (version_parse(stated, &meant, e) < 0)
		return -1;
	bool extends = str_starts(part, stated) && part.len > stated.len && part.ptr[stated.len] == '-';
	if (version_parse(part, out, e) < 0)
		return extends ? version_parse(stated, out, e) : -1;
	if (extends || version_cmp(out, &meant) == 0)
		return 0;
	version_release(out);
	return err_set(e, ERR_INVALID, "file name says version \"" STR_FMT "\", PKG-INFO \"" STR_FMT "\"",
		STR_ARG(part), STR_ARG(stated));
}

int filename_parse_sdist(struct str filename, struct str project, struct str version, struct filename *out,
	struct err *e)
{
	const struct ending *ending = find_ending(filename);
	if (!ending || ending->kind != FILENAME_SDIST)
		return err_set(e, ERR_INVALID, "not an sdist by its ending");
	if (filename_check(filename, e) < 0 || check_sdist_name(project, e) < 0)
		return -1;
	struct str stem = str_slice(filename, 0, filename.len - ending->text.len);
	struct filename f = {.kind = FILENAME_SDIST, .stem = stem, .project = normalized_project(project)};
	struct err why = ERR_INIT; // why the last dash does not fit; a later dash may
	int rc = err_set(&why, ERR_INVALID, "file name does not begin with PKG-INFO's name \"" STR_FMT "\"",
		STR_ARG(project));
	for (size_t i = 0; i < stem.len && rc < 0; i++)
		if (stem.ptr[i] == '-' && is_project_before(stem, i, f.project))
			rc = parse_stated_version(str_slice(stem, i + 1, stem.len), version, &f.version, &why);
	if (rc == 0) {
		*out = f;
		return 0;
	}
	*e = why;
	filename_release(&f);
	return -1;
}

static int parse_listed_sdist(struct str stem, const char *project, struct filename *out, struct err *e)
{
	size_t dash = 0;
	while (dash < stem.len && !(stem.ptr[dash] == '-' && is_project_before(stem, dash, project)))
		dash++;
	if (dash == stem.len)
		return err_set(e, ERR_INVALID, "file name does not begin with \"%s\"", project);
	struct filename f = {.kind = FILENAME_SDIST, .stem = stem};
	if (version_parse(str_slice(stem, dash + 1, stem.len), &f.version, e) < 0)
		return -1;
	f.project = xstrdup(project);
	*out = f;
	return 0;
}

int filename_parse_listed(struct str filename, const char *project, struct filename *out, struct err *e)
{
	const struct ending *ending = find_ending(filename);
	struct filename f = {0};
	if (ending && ending->kind == FILENAME_SDIST) {
		struct str stem = str_slice(filename, 0, filename.len - ending->text.len);
		return filename_check(filename, e) < 0 ? -1 : parse_listed_sdist(stem, project, out, e);
	}
	if (filename_parse(filename, &f, e) < 0)
		return -1;
	if (strcmp(f.project, project) != 0) {
		err_set(e, ERR_INVALID, "a wheel of %s", f.project);
		filename_release(&f);
		return -1;
	}
	*out = f;
	return 0;
}

static struct str cut_build_number(struct str *build)
{
	size_t len = 0;
	while (len < build->len && ascii_is_digit(build->ptr[len]))
		len++;
	struct str number = pep440_strip_zeros(str_slice(*build, 0, len));
	*build = str_slice(*build, len, build->len);
	return number;
}

int filename_compare_builds(struct str a, struct str b)
{
	if (!a.len || !b.len)
		return (a.len > 0) - (b.len > 0);
	struct str left = cut_build_number(&a), right = cut_build_number(&b);
	if (left.len != right.len)
		return left.len < right.len ? -1 : 1;
	int order = str_cmp(left, right);
	return order ? order : str_cmp(a, b);
}

unsigned filename_build_number(struct str build)
{
	uint64_t number;
	return decimal_cut(&build, LIMIT_BUILD_TAG - 1, &number) ? (unsigned)number : 0;
}

// --- tags ---

// The members of a compressed set such as "py2.py3". No file name has room for more.
struct tag_set {
	struct str member[LIMIT_FILE_NAME / 2 + 1];
	size_t count;
};

static bool tag_set_has(const struct tag_set *set, struct str member)
{
	for (size_t i = 0; i < set->count; i++)
		if (str_eq_nocase(set->member[i], member))
			return true;
	return false;
}

static int tag_set_parse(struct str text, struct tag_set *set, struct err *e)
{
	set->count = 0;
	while (text.ptr) {
		struct str member = str_cut(&text, '.');
		if (tag_set_has(set, member))
			continue;
		if (set->count == ARRAY_SIZE(set->member))
			return err_set(e, ERR_LIMIT, "more than %zu tags in one set", ARRAY_SIZE(set->member));
		set->member[set->count++] = member;
	}
	return 0;
}

// Returns the end of the written text.
static char *put_lower(char *at, struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		*at++ = ascii_lower(s.ptr[i]);
	return at;
}

static int call_with_tag(struct str python, struct str abi, struct str platform, filename_tag_fn *fn, void *ctx, struct err *e)
{
	size_t len = python.len + abi.len + platform.len + 2;
	CLEANUP(mem_free) char *tag = xmalloc(len + 1);
	char *at = put_lower(tag, python);
	*at++ = '-';
	at = put_lower(at, abi);
	*at++ = '-';
	*put_lower(at, platform) = '\0';
	return fn(ctx, (struct str){tag, len}, e);
}

int filename_tags(const struct filename *wheel, filename_tag_fn *fn, void *ctx, struct err *e)
{
	struct tag_set python, abi, platform;
	if (wheel->python.len + wheel->abi.len + wheel->platform.len > LIMIT_FILE_NAME)
		return err_set(e, ERR_LIMIT, "tags longer than any file name");
	if (tag_set_parse(wheel->python, &python, e) < 0 || tag_set_parse(wheel->abi, &abi, e) < 0 ||
		tag_set_parse(wheel->platform, &platform, e) < 0)
		return -1;
	size_t count = python.count * abi.count * platform.count;
	if (count > LIMIT_TAGS)
		return err_set(e, ERR_LIMIT, "%zu tags, more than %d", count, LIMIT_TAGS);
	for (size_t i = 0; i < python.count; i++)
		for (size_t j = 0; j < abi.count; j++)
			for (size_t k = 0; k < platform.count; k++)
				if (call_with_tag(python.member[i], abi.member[j], platform.member[k], fn, ctx, e) < 0)
					return -1;
	return 0;
}
