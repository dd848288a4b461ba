// SPDX-License-Identifier: Apache-2.0
// The YAML is written with strings of JSON, which are strings of YAML too, so no version becomes a number.
#include "builder/missing/ci-matrix.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/base/hash.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/escape.h"

enum { MOST_SHARDS = 10000 };

// --- shards ---

int missing_shard_parse(const char *text, struct missing_shard *out, struct err *e)
{
	uint64_t index, count;
	struct str rest = str_from(text), first = str_cut(&rest, '/');
	if (!decimal_parse(first, MOST_SHARDS, &index) || !decimal_parse(rest, MOST_SHARDS, &count) || !index ||
		index > count)
		return err_set(e, ERR_USAGE, "%s: not a shard: K/N, with K from 1 to N, and N at most %d", text,
			MOST_SHARDS);
	*out = (struct missing_shard){.index = (unsigned)index, .count = (unsigned)count};
	return 0;
}

// From 0. Another hash would move projects between the machines of a running build.
static unsigned shard_of(const char *project, unsigned count)
{
	return (unsigned)(hash_fixed(str_from(project)) % count);
}

bool missing_shard_has(const struct missing_shard *shard, const char *project)
{
	return shard->count < 2 || shard_of(project, shard->count) == shard->index - 1;
}

// --- the rows of an environment ---

// What is to be built in one environment: row[from] to row[to - 1], of which some have another status.
struct missing_group {
	const struct missing_row *first;
	const struct missing *m;
	const struct missing_shard *shard;
	size_t from, to;
};

static bool is_in_shard(const struct missing_row *row, const struct missing_shard *shard)
{
	return row->status == WHEEL_MISSING && row->version && missing_shard_has(shard, row->project);
}

static bool are_of_one_environment(const struct missing_row *a, const struct missing_row *b)
{
	return strcmp(a->platform, b->platform) == 0 && strcmp(a->python, b->python) == 0;
}

static const struct missing_row *next_in_group(const struct missing_group *g, size_t *at)
{
	while (*at < g->to) {
		const struct missing_row *row = &g->m->row[(*at)++];
		if (is_in_shard(row, g->shard))
			return row;
	}
	return NULL;
}

// Sets *g to the next environment with rows, from row *at on. False: there is none.
static bool next_group(const struct missing *m, const struct missing_shard *shard, size_t *at, struct missing_group *g)
{
	while (*at < m->rows) {
		size_t from = *at, first;
		while (*at < m->rows && are_of_one_environment(&m->row[from], &m->row[*at]))
			(*at)++;
		*g = (struct missing_group){.m = m, .shard = shard, .from = from, .to = *at};
		first = from;
		g->first = next_in_group(g, &first);
		if (g->first)
			return true;
	}
	return false;
}

static size_t count_group(const struct missing_group *g)
{
	size_t count = 0;
	for (size_t at = g->from; next_in_group(g, &at);)
		count++;
	return count;
}

// "a==1 b==2"
static void put_requirements(struct buf *out, const struct missing_group *g)
{
	const struct missing_row *row;
	for (size_t at = g->from; (row = next_in_group(g, &at));)
		buf_printf(out, "%s%s==%s", row == g->first ? "" : " ", row->project, row->version);
}

static void put_string(struct buf *out, const char *text)
{
	escape_json(out, str_from(text));
}

static const char *arch_of(const char *platform)
{
	struct str name = str_from(platform);
	const char *arch = platform_arch(str_slice(name, (size_t)(str_rfind(name, '-') + 1), name.len));
	return arch ? arch : "";
}

static int check_room(const struct buf *out, struct err *e)
{
	return out->failed ? err_set(e, ERR_LIMIT, "what is missing has more than %zu bytes", out->cap) : 0;
}

// --- GitHub ---

static size_t put_entries(const struct missing *m, const struct missing_shard *shard, struct buf *out)
{
	size_t entries = 0;
	struct missing_group g;
	buf_puts(out, "{\"include\":[");
	for (size_t at = 0; next_group(m, shard, &at, &g); entries++) {
		buf_puts(out, entries ? ",{\"platform\":" : "{\"platform\":");
		put_string(out, g.first->platform);
		buf_puts(out, ",\"python\":");
		put_string(out, g.first->python);
		buf_puts(out, ",\"arch\":");
		put_string(out, arch_of(g.first->platform));
		buf_printf(out, ",\"wheels\":\"%zu\",\"requirements\":", count_group(&g));
		CLEANUP(buf_release) struct buf text = buf_up_to(out->cap);
		put_requirements(&text, &g);
		escape_json(out, buf_view(&text));
		buf_putc(out, '}');
	}
	buf_puts(out, "]}");
	return entries;
}

// GitHub counts code units of UTF-16: a byte that begins a character is one, and two if four bytes follow from it.
static size_t count_utf16(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.len; i++) {
		unsigned char c = (unsigned char)text.ptr[i];
		count += (c & 0xc0) != 0x80;
		count += c >= 0xf0;
	}
	return count;
}

static bool fits_github(const struct missing *m, const struct missing_shard *shard, size_t *entries, struct buf *out)
{
	buf_clear(out);
	*entries = put_entries(m, shard, out);
	return !out->failed && *entries <= CI_MATRIX_ENTRIES &&
	       count_utf16(buf_view(out)) <= CI_MATRIX_CHARACTERS;
}

static bool all_fit_github(const struct missing *m, unsigned count, struct buf *scratch)
{
	struct missing_shard shard = {.index = 1, .count = count};
	size_t ignored;
	while (shard.index <= count && fits_github(m, &shard, &ignored, scratch))
		shard.index++;
	return shard.index > count;
}

// The least N for which each part fits; 0: there is none, as one project alone is missing in too many environments.
static unsigned least_shards(const struct missing *m, struct buf *scratch)
{
	enum { MOST = 256 };
	unsigned count = 2;
	if (!all_fit_github(m, MOST, scratch))
		return 0;
	while (!all_fit_github(m, count, scratch))
		count++;
	return count;
}

int ci_matrix_github(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e)
{
	size_t entries;
	CLEANUP(buf_release) struct buf matrix = buf_up_to(4 * CI_MATRIX_CHARACTERS);
	if (!fits_github(m, shard, &entries, &matrix)) {
		unsigned fit = least_shards(m, &matrix);
		const char *limits = "a matrix of GitHub has at most 256 entries and 450000 characters";
		return fit ? err_set(e, ERR_LIMIT, "%s: --shard K/%u fits, with K from 1 to %u", limits, fit, fit)
			   : err_set(e, ERR_LIMIT, "%s, and no --shard fits: choose platforms with --platform", limits);
	}
	buf_puts(out, "matrix=");
	buf_str(out, buf_view(&matrix));
	buf_printf(out, "\ncount=%zu\n", entries);
	return check_room(out, e);
}

// --- Jenkins ---

// A regular expression that matches exactly this text, as a string.
static void put_exact(struct buf *out, struct str text)
{
	CLEANUP(buf_release) struct buf pattern = buf_up_to(out->cap);
	for (size_t i = 0; i < text.len; i++) {
		if (strchr("\\^$.|?*+()[]{}", text.ptr[i]))
			buf_putc(&pattern, '\\');
		buf_putc(&pattern, text.ptr[i]);
	}
	escape_json(out, buf_view(&pattern));
}

static void put_group_value(struct buf *out, const struct missing_group *g, size_t axis)
{
	if (axis == 2)
		put_requirements(out, g);
	else
		buf_puts(out, axis ? g->first->python : g->first->platform);
}

static const char *const axis_name[] = {"platform", "python", "requirements"};

int ci_matrix_jenkins(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e)
{
	buf_puts(out, "---\njob: \"wheelcache-missing\"\ntimeout_minutes: 240\nfailFast: false\n"
		      "taskName: \"${platform}/python_${python}\"\nmatrix:\n  axes:\n");
	for (size_t axis = 0; axis < ARRAY_SIZE(axis_name); axis++) {
		buf_printf(out, "    %s:", axis_name[axis]);
		// The values of an axis, each once, in the order of the rows.
		CLEANUP(arena_release) struct arena text = {0};
		CLEANUP(mem_free) struct str *seen = NULL;
		size_t count = 0, room = 0, i;
		struct missing_group g;
		for (size_t at = 0; next_group(m, shard, &at, &g);) {
			CLEANUP(buf_release) struct buf value = buf_up_to(out->cap);
			put_group_value(&value, &g, axis);
			for (i = 0; i < count && !str_eq(seen[i], buf_view(&value)); i++)
				;
			if (i < count)
				continue;
			GROW(seen, count, room);
			seen[count++] = str_from(arena_copy(&text, buf_view(&value)));
			buf_puts(out, "\n      - ");
			escape_json(out, buf_view(&value));
		}
		buf_puts(out, count ? "\n" : " []\n");
	}
	buf_puts(out, "  include:");
	size_t rules = 0;
	struct missing_group g;
	for (size_t at = 0; next_group(m, shard, &at, &g); rules++)
		for (size_t axis = 0; axis < ARRAY_SIZE(axis_name); axis++) {
			CLEANUP(buf_release) struct buf value = buf_up_to(out->cap);
			put_group_value(&value, &g, axis);
			buf_printf(out, "%s%s: ", axis ? "\n      " : "\n    - ", axis_name[axis]);
			put_exact(out, buf_view(&value));
		}
	buf_puts(out, rules ? "\n" : " []\n");
	buf_puts(out, "steps:\n  - name: \"build\"\n    run: \"wheelcache build --platform $platform --python $python");
	if (shard->count)
		buf_printf(out, " --shard %u/%u", shard->index, shard->count);
	buf_puts(out, "\"\n");
	return check_room(out, e);
}

// --- Zuul ---

static void put_job_name(struct buf *out, const char *platform)
{
	CLEANUP(mem_free) char *name = xasprintf("wheelcache-build-%s", platform);
	put_string(out, name);
}

static void put_jobs(const struct missing *m, const struct missing_shard *shard, struct buf *out)
{
	const char *platform = NULL;
	const struct missing_row *row;
	struct missing_group g;
	for (size_t at = 0; next_group(m, shard, &at, &g);) {
		if (!platform || strcmp(platform, g.first->platform) != 0) {
			buf_puts(out, "\n  - job:\n      name: ");
			put_job_name(out, g.first->platform);
			buf_puts(out,
				"\n      parent: \"wheelcache-build\"\n      vars:\n        wheelcache_platform: ");
			put_string(out, g.first->platform);
			buf_puts(out, "\n        wheelcache_missing:");
		}
		platform = g.first->platform;
		buf_puts(out, "\n          - python: ");
		put_string(out, g.first->python);
		buf_puts(out, "\n            requirements:");
		for (size_t i = g.from; (row = next_in_group(&g, &i));) {
			CLEANUP(mem_free) char *requirement = xasprintf("%s==%s", row->project, row->version);
			buf_puts(out, "\n              - ");
			put_string(out, requirement);
		}
	}
	buf_puts(out, platform ? "\n" : " []\n");
}

int ci_matrix_zuul(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e)
{
	buf_puts(out, "---\njobs:");
	put_jobs(m, shard, out);
	buf_puts(out, "child_jobs:");
	const char *platform = NULL;
	struct missing_group g;
	for (size_t at = 0; next_group(m, shard, &at, &g); platform = g.first->platform)
		if (!platform || strcmp(platform, g.first->platform) != 0) {
			buf_puts(out, "\n  - ");
			put_job_name(out, g.first->platform);
		}
	buf_puts(out, platform ? "\n" : " []\n");
	return check_room(out, e);
}

// --- pip ---

static int compare_rows(const void *a, const void *b)
{
	const struct missing_row *one = *(const struct missing_row *const *)a,
				 *other = *(const struct missing_row *const *)b;
	int order = strcmp(one->project, other->project);
	return order ? order : strcmp(one->version, other->version);
}

int ci_matrix_requirements(const struct missing *m, const struct missing_shard *shard, struct buf *out, struct err *e)
{
	CLEANUP(mem_free) const struct missing_row **row = xcalloc(m->rows + 1, sizeof(*row));
	size_t count = 0;
	for (size_t i = 0; i < m->rows; i++)
		if (is_in_shard(&m->row[i], shard))
			row[count++] = &m->row[i];
	qsort(row, count, sizeof(*row), compare_rows);
	for (size_t i = 0; i < count; i++)
		if (!i || compare_rows(&row[i - 1], &row[i]) != 0)
			buf_printf(out, "%s==%s\n", row[i]->project, row[i]->version);
	return check_room(out, e);
}
