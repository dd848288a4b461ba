// SPDX-License-Identifier: Apache-2.0
// The JSON of a generation, and the name of its file.
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/text/name.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/views/membership.h"

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

// --- reading ---

static int read_words(const struct jsondoc *doc, const char *key, size_t most, struct arena *text, const char **out,
	struct err *e)
{
	const char *value = jsondoc_get_str(doc, key);
	if (!value)
		return err_set(e, ERR_INVALID, "\"%s\" is not a string", key);
	if (strlen(value) > most)
		return err_set(e, ERR_INVALID, "\"%s\" has more than %zu bytes", key, most);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID, "\"%s\" has a control character", key);
	*out = arena_copy(text, str_from(value));
	return 0;
}

static bool read_hash(const char *hex, uint8_t out[SHA256_SIZE])
{
	return hex && hex_decode(str_from(hex), out, SHA256_SIZE);
}

// The first generation has no previous one, and each other has.
static int read_place(const struct jsondoc *doc, struct membership_change *m, struct err *e)
{
	const char *made;
	if (read_words(doc, "view", LIMIT_FILE_NAME, &m->text, &m->view, e) < 0 ||
		read_words(doc, "made", CLOCK_TEXT, &m->text, &made, e) < 0)
		return -1;
	if (!platform_name_is_valid(str_from(m->view)))
		return err_set(e, ERR_INVALID, "\"%s\" is no name of a view", m->view);
	if (!clock_read(made, &m->made))
		return err_set(e, ERR_INVALID, "\"made\" is not a time as 2026-01-02T03:04:05Z");
	if (!jsondoc_get_int(doc, "generation", &m->generation) || m->generation < 1 ||
		m->generation > LIMIT_GENERATIONS)
		return err_set(e, ERR_INVALID, "\"generation\" is not a number from 1 to %d", LIMIT_GENERATIONS);
	m->has_previous = m->generation > 1;
	if (m->has_previous && !read_hash(jsondoc_get_str(doc, "previous"), m->previous))
		return err_set(e, ERR_INVALID, "\"previous\" is not 64 hexadecimal digits");
	if (!m->has_previous && !jsondoc_is_null(doc, "previous"))
		return err_set(e, ERR_INVALID, "\"previous\" is not null in the first generation");
	return 0;
}

static int read_maker(const struct jsondoc *doc, struct membership_change *m, struct err *e)
{
	if (read_words(doc, "action", LIMIT_NOTE, &m->text, &m->action, e) < 0 ||
		read_words(doc, "by", LIMIT_WORDS, &m->text, &m->by, e) < 0 ||
		read_words(doc, "address", LIMIT_NOTE, &m->text, &m->address, e) < 0 ||
		read_words(doc, "reason", LIMIT_REASON, &m->text, &m->reason, e) < 0)
		return -1;
	return *m->action ? 0 : err_set(e, ERR_INVALID, "\"action\" is empty");
}

static int read_records(const struct jsondoc *doc, struct membership_change *m, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "evidence");
	uint8_t(*id)[SHA256_SIZE];
	if (!list)
		return err_set(e, ERR_INVALID, "\"evidence\" is not an array");
	m->evidences = jsondoc_count(list);
	if (m->evidences > LIMIT_MEMBERSHIP_FILES)
		return err_set(e, ERR_LIMIT, "more than %d records of evidence", LIMIT_MEMBERSHIP_FILES);
	id = arena_alloc_aligned(&m->text, (m->evidences + 1) * sizeof(*id));
	m->evidence = (const uint8_t(*)[SHA256_SIZE])id;
	for (size_t i = 0; i < m->evidences; i++)
		if (!read_hash(jsondoc_at_str(list, i), id[i]))
			return err_set(e, ERR_INVALID, "evidence[%zu] is not 64 hexadecimal digits", i);
	return 0;
}

static int check_member(const struct membership_file *f, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (!platform_name_is_valid(str_from(f->platform)))
		return err_set(e, ERR_INVALID, "\"%s\" is no name of a platform", f->platform);
	if (!name_is_valid(str_from(f->project)) || !name_is_normal(str_from(f->project)))
		return err_set(e, ERR_INVALID, "\"%s\" is no normalised name of a project", f->project);
	return filename_parse_listed(str_from(f->filename), f->project, &name, e);
}

int membership_tested_read(const struct jsondoc *list, struct arena *text, const struct membership_tested **out,
	size_t *count, struct err *e)
{
	size_t all = list ? jsondoc_count(list) : 0;
	struct membership_tested *tested = arena_alloc_aligned(text, (all + 1) * sizeof(*tested));
	for (size_t i = 0; i < all; i++) {
		const struct jsondoc *one = jsondoc_at(list, i);
		tested[i].match = promotion_match_find(jsondoc_get_str(one, "as"));
		if (tested[i].match == PROMOTION_MATCH_COUNT || !read_hash(jsondoc_get_str(one, "sha256"), tested[i].sha256))
			return err_set(e, ERR_INVALID, "tested[%zu] is no SHA-256 with what it was tested as", i);
	}
	*out = tested;
	*count = all;
	return 0;
}

static int read_member(const struct jsondoc *doc, struct arena *text, struct membership_file *out, struct err *e)
{
	if (read_words(doc, "platform", LIMIT_FILE_NAME, text, &out->platform, e) < 0 ||
		read_words(doc, "project", LIMIT_FILE_NAME, text, &out->project, e) < 0 ||
		read_words(doc, "filename", LIMIT_FILE_NAME, text, &out->filename, e) < 0)
		return -1;
	if (!read_hash(jsondoc_get_str(doc, "sha256"), out->sha256))
		return err_set(e, ERR_INVALID, "\"sha256\" is not 64 hexadecimal digits");
	if (membership_tested_read(jsondoc_get(doc, "tested"), text, &out->tested, &out->testeds, e) < 0)
		return -1;
	return check_member(out, e);
}

static int read_members(const struct jsondoc *doc, const char *key, struct arena *text,
	const struct membership_file **out, size_t *count, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, key);
	struct membership_file *file;
	if (!list)
		return err_set(e, ERR_INVALID, "\"%s\" is not an array", key);
	*count = jsondoc_count(list);
	if (*count > LIMIT_MEMBERSHIP_FILES)
		return err_set(e, ERR_LIMIT, "\"%s\" has more than %d files", key, LIMIT_MEMBERSHIP_FILES);
	*out = file = arena_alloc_aligned(text, (*count + 1) * sizeof(*file));
	for (size_t i = 0; i < *count; i++)
		if (read_member(jsondoc_at(list, i), text, &file[i], e) < 0)
			return err_prefix(e, "%s[%zu]: ", key, i);
	return 0;
}

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

static int read_corrected_time(const struct jsondoc *doc, const struct membership_change *m, size_t i,
	struct membership_time *out, struct err *e)
{
	const char *made = jsondoc_get_str(doc, "made");
	if (!jsondoc_get_int(doc, "generation", &out->generation) ||
		out->generation != m->generation - (int64_t)(m->times - i) || out->generation < 1)
		return err_set(e, ERR_INVALID, "times[%zu] is not of the next generation before this one", i);
	if (!made || !clock_read(made, &out->made) || out->made > m->made || (i && out->made < out[-1].made))
		return err_set(e, ERR_INVALID, "times[%zu] has no time between those of its neighbours", i);
	return 0;
}

// Those of the newest generations before this one, in their order.
static int read_times(const struct jsondoc *doc, struct membership_change *m, struct err *e)
{
	const struct jsondoc *list = jsondoc_get(doc, "times");
	struct membership_time *time;
	m->times = list ? jsondoc_count(list) : 0;
	if (m->times > LIMIT_GENERATIONS)
		return err_set(e, ERR_LIMIT, "more than %d times", LIMIT_GENERATIONS);
	m->time = time = arena_alloc_aligned(&m->text, (m->times + 1) * sizeof(*time));
	for (size_t i = 0; i < m->times; i++)
		if (read_corrected_time(jsondoc_at(list, i), m, i, &time[i], e) < 0)
			return -1;
	return 0;
}

int membership_read(struct str json, struct membership_change *out, struct err *e)
{
	*out = (struct membership_change){0};
	if (json.len > LIMIT_MEMBERSHIP)
		return err_set(e, ERR_LIMIT, "a generation of more than %d bytes", LIMIT_MEMBERSHIP);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read_bounded(json, LIMIT_MEMBERSHIP_VALUES, e);
	if (doc && read_place(doc, out, e) == 0 && read_maker(doc, out, e) == 0 && read_records(doc, out, e) == 0 &&
		read_members(doc, "adds", &out->text, &out->add, &out->adds, e) == 0 &&
		read_members(doc, "removes", &out->text, &out->remove, &out->removes, e) == 0 &&
		check_repetitions(out, e) == 0 && read_times(doc, out, e) == 0)
		return 0;
	membership_release(out);
	return -1;
}

void membership_release(struct membership_change *m)
{
	arena_release(&m->text);
	*m = (struct membership_change){0};
}

// --- writing ---

static const char *hash_text(const uint8_t sha256[SHA256_SIZE], char hex[SHA256_HEX + 1])
{
	hex_encode(sha256, SHA256_SIZE, hex);
	hex[SHA256_HEX] = '\0';
	return hex;
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
	char hex[SHA256_HEX + 1];
	if (!count)
		return;
	for (size_t i = 1; i < count; i++)
		if (tested[i].match > weakest->match)
			weakest = &tested[i];
	promotion_tested_words(weakest->match, hash_text(weakest->sha256, hex), out);
	if (count > 1)
		buf_printf(out, ", and %zu more", count - 1);
}

struct jsondoc *membership_tested_json(const struct membership_tested *tested, size_t count)
{
	char hex[SHA256_HEX + 1];
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < count; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "as", promotion_match_name[tested[i].match]);
		jsondoc_put_str(one, "sha256", hash_text(tested[i].sha256, hex));
		jsondoc_add(list, one);
	}
	return list;
}

static void put_members(struct jsondoc *doc, const char *key, const struct membership_file *file, size_t count)
{
	char hex[SHA256_HEX + 1];
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < count; i++) {
		struct jsondoc *one = jsondoc_object();
		jsondoc_put_str(one, "platform", file[i].platform);
		jsondoc_put_str(one, "project", file[i].project);
		jsondoc_put_str(one, "filename", file[i].filename);
		jsondoc_put_str(one, "sha256", hash_text(file[i].sha256, hex));
		if (file[i].testeds)
			jsondoc_put(one, "tested", membership_tested_json(file[i].tested, file[i].testeds));
		jsondoc_add(list, one);
	}
	jsondoc_put(doc, key, list);
}

static void put_times(struct jsondoc *doc, const struct membership_change *m)
{
	struct jsondoc *list = jsondoc_array();
	for (size_t i = 0; i < m->times; i++) {
		char made[CLOCK_TEXT];
		struct jsondoc *one = jsondoc_object();
		clock_write(m->time[i].made, made);
		jsondoc_put_int(one, "generation", m->time[i].generation);
		jsondoc_put_str(one, "made", made);
		jsondoc_add(list, one);
	}
	jsondoc_put(doc, "times", list);
}

void membership_write(const struct membership_change *m, struct buf *out)
{
	char made[CLOCK_TEXT], hex[SHA256_HEX + 1];
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *evidence = jsondoc_array();
	clock_write(m->made, made);
	for (size_t i = 0; i < m->evidences; i++)
		jsondoc_add_str(evidence, hash_text(m->evidence[i], hex));
	jsondoc_put_str(doc, "view", m->view);
	jsondoc_put_int(doc, "generation", m->generation);
	jsondoc_put_str(doc, "previous", m->has_previous ? hash_text(m->previous, hex) : NULL);
	jsondoc_put_str(doc, "made", made);
	jsondoc_put_str(doc, "action", m->action);
	jsondoc_put_str(doc, "by", m->by);
	jsondoc_put_str(doc, "address", m->address);
	jsondoc_put_str(doc, "reason", m->reason);
	jsondoc_put(doc, "evidence", evidence);
	put_members(doc, "adds", m->add, m->adds);
	put_members(doc, "removes", m->remove, m->removes);
	if (m->times)
		put_times(doc, m);
	jsondoc_write(doc, 0, out);
}
