// SPDX-License-Identifier: Apache-2.0
#include "lib/state/views/membership.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"

enum { DIGITS = 6 };
static const char ending[] = ".json";

void membership_name(int64_t generation, char out[MEMBERSHIP_NAME])
{
	snprintf(out, MEMBERSHIP_NAME, "%0*" PRId64 "%s", DIGITS, generation, ending);
}

int64_t membership_number(const char *name)
{
	int64_t number = 0;
	for (int i = 0; i < DIGITS; i++, name++) {
		if (!ascii_is_digit(*name))
			return 0;
		number = number * 10 + (*name - '0');
	}
	return strcmp(name, ending) == 0 ? number : 0;
}

// --- fields ---

static const struct jsonmap_field tested_fields[] = {
	JSONMAP_NAME("as", struct membership_tested, match, promotion_match_name),
	JSONMAP_SHA256("sha256", struct membership_tested, sha256),
};
const struct jsonmap membership_tested_map = JSONMAP(struct membership_tested, tested_fields);

static bool is_project(struct str text)
{
	return name_is_valid(text) && name_is_normal(text);
}

static int check_member(void *row, struct arena *text UNUSED, struct err *e)
{
	const struct membership_file *f = row;
	CLEANUP(filename_release) struct filename name = {0};
	return filename_parse_listed(str_from(f->filename), f->project, &name, e);
}

#define MEMBER struct membership_file
static const struct jsonmap_field member_fields[] = {
	JSONMAP_TEXT("platform", MEMBER, platform, .limit = LIMIT_FILE_NAME, .is_valid = platform_name_is_valid,
		.no = "name of a platform"),
	JSONMAP_TEXT("project", MEMBER, project, .limit = LIMIT_FILE_NAME, .is_valid = is_project,
		.no = "normalised name of a project"),
	JSONMAP_TEXT("filename", MEMBER, filename, .limit = LIMIT_FILE_NAME),
	JSONMAP_SHA256("sha256", MEMBER, sha256),
	JSONMAP_LIST("tested", MEMBER, tested, testeds, &membership_tested_map, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap member_map = JSONMAP(MEMBER, member_fields, .check = check_member);

static const struct jsonmap_field time_fields[] = {
	JSONMAP_INTEGER("generation", struct membership_time, generation, .least = 1, .most = LIMIT_GENERATIONS),
	JSONMAP_TIME("made", struct membership_time, made),
};
static const struct jsonmap time_map = JSONMAP(struct membership_time, time_fields);

#define CHANGE struct membership_change
static int check_change(void *row, struct arena *text, struct err *e);
static const struct jsonmap_field change_fields[] = {
	JSONMAP_TEXT("view", CHANGE, view, .limit = LIMIT_FILE_NAME, .is_valid = platform_name_is_valid,
		.no = "name of a view"),
	JSONMAP_INTEGER("generation", CHANGE, generation, .least = 1, .most = LIMIT_GENERATIONS),
	JSONMAP_SHA256("previous", CHANGE, previous, .has = offsetof(CHANGE, has_previous), .absent = JSONMAP_NULL),
	JSONMAP_TIME("made", CHANGE, made),
	JSONMAP_TEXT("action", CHANGE, action, .limit = LIMIT_NOTE),
	JSONMAP_TEXT("by", CHANGE, by, .limit = LIMIT_WORDS),
	JSONMAP_TEXT("address", CHANGE, address, .limit = LIMIT_NOTE),
	JSONMAP_TEXT("reason", CHANGE, reason, .limit = LIMIT_REASON),
	JSONMAP_LIST("evidence", CHANGE, evidence, evidences, &jsonmap_sha256, .limit = LIMIT_MEMBERSHIP_FILES),
	JSONMAP_LIST("adds", CHANGE, add, adds, &member_map, .limit = LIMIT_MEMBERSHIP_FILES),
	JSONMAP_LIST("removes", CHANGE, remove, removes, &member_map, .limit = LIMIT_MEMBERSHIP_FILES),
	JSONMAP_LIST("times", CHANGE, time, times, &time_map, .limit = LIMIT_GENERATIONS, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap change_map = JSONMAP(CHANGE, change_fields, .check = check_change);

// --- what the table does not say ---

static int by_identity(const void *a, const void *b)
{
	const struct membership_file *one = *(const struct membership_file *const *)a;
	const struct membership_file *two = *(const struct membership_file *const *)b;
	int order = strcmp(one->filename, two->filename);
	if (!order)
		order = strcmp(one->platform, two->platform);
	return order ? order : memcmp(one->sha256, two->sha256, SHA256_SIZE);
}

static int check_repetitions(const struct membership_change *m, struct err *e)
{
	size_t count = m->adds + m->removes;
	CLEANUP(mem_free) const struct membership_file **all = xcalloc(count + 1, sizeof(*all));
	for (size_t i = 0; i < m->adds; i++)
		all[i] = &m->add[i];
	for (size_t i = 0; i < m->removes; i++)
		all[m->adds + i] = &m->remove[i];
	qsort(all, count, sizeof(*all), by_identity);
	for (size_t i = 1; i < count; i++)
		if (by_identity(&all[i - 1], &all[i]) == 0)
			return err_set(e, ERR_INVALID, "%s of %s stands in it twice", all[i]->filename,
				all[i]->platform);
	return 0;
}

// They are of the newest generations before this one, in their order.
static int check_times(const struct membership_change *m, struct err *e)
{
	for (size_t i = 0; i < m->times; i++) {
		const struct membership_time *t = &m->time[i];
		if (t->generation != m->generation - (int64_t)(m->times - i))
			return err_set(e, ERR_INVALID, "times[%zu] is not of the next generation before this one", i);
		if (t->made > m->made || (i && t->made < t[-1].made))
			return err_set(e, ERR_INVALID, "times[%zu] has no time between those of its neighbours", i);
	}
	return 0;
}

// The first generation has no previous one, and each other has.
static int check_change(void *row, struct arena *text UNUSED, struct err *e)
{
	const struct membership_change *m = row;
	if (m->has_previous != (m->generation > 1))
		return err_set(e, ERR_INVALID, m->has_previous ? "\"previous\" is not null in the first generation"
							       : "\"previous\" is not 64 hexadecimal digits");
	if (!*m->action)
		return err_set(e, ERR_INVALID, "\"action\" is empty");
	return check_repetitions(m, e) < 0 || check_times(m, e) < 0 ? -1 : 0;
}

int membership_read(struct str json, struct membership_change *out, struct err *e)
{
	*out = (struct membership_change){0};
	if (json.len > LIMIT_MEMBERSHIP)
		return err_set(e, ERR_LIMIT, "a generation of more than %d bytes", LIMIT_MEMBERSHIP);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_MEMBERSHIP_VALUES, e);
	if (doc && jsonmap_read(&change_map, doc, out, &out->text, e) == 0)
		return 0;
	membership_release(out);
	return -1;
}

void membership_release(struct membership_change *m)
{
	arena_release(&m->text);
	*m = (struct membership_change){0};
}

const struct membership_tested *membership_tested_copy(struct arena *text, const struct membership_tested *tested,
	size_t count)
{
	struct membership_tested *copy = arena_alloc_aligned(text, (count + 1) * sizeof(*copy));
	for (size_t i = 0; i < count; i++)
		copy[i] = tested[i];
	return copy;
}

void membership_tested_words(const struct membership_tested *tested, size_t count, struct buf *out)
{
	const struct membership_tested *weakest = tested;
	char hex[SHA256_HEX + 1] = "";
	if (!count)
		return;
	for (size_t i = 1; i < count; i++)
		if (tested[i].match > weakest->match)
			weakest = &tested[i];
	hex_encode(weakest->sha256, SHA256_SIZE, hex);
	promotion_tested_words(weakest->match, hex, out);
	if (count > 1)
		buf_printf(out, ", and %zu more", count - 1);
}

void membership_write(const struct membership_change *m, struct buf *out)
{
	jsonmap_write(&change_map, m, out);
}
