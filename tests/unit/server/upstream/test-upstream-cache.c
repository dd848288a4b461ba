// SPDX-License-Identifier: Apache-2.0
// The newer answer stays, an entry that another process has replaced is dropped, and memory is bounded.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "lib/base/mem.h"
#include "lib/state/upstream/upstream-row.h"
#include "server/upstream/upstream-cache.h"

enum { PACKED = 10000 };

static struct upstreams *upstreams;

// The catalog's change that saved it; 0: not saved yet.
static struct upstream_project *project_of(const char *name, int64_t changed, size_t bytes)
{
	struct err e = ERR_INIT;
	struct upstream_project *p;
	assert_int_equal(upstream_load(upstreams, NULL, name, &p, &e), 0);
	p->row[0].changed = changed;
	buf_reserve(&p->row[0].packed, bytes);
	p->row[0].packed.len = bytes;
	return p;
}

static struct upstream_project *project(const char *name, int64_t changed)
{
	return project_of(name, changed, PACKED);
}

static void put_large(struct upstream_cache *f, const char *name, size_t bytes)
{
	struct upstream_project *p = project_of(name, 1, bytes);
	upstream_cache_put(f, p);
	upstream_project_unref(p);
}

// Drops the caller's reference.
static void put(struct upstream_cache *f, const char *name, int64_t changed)
{
	struct upstream_project *p = project(name, changed);
	upstream_cache_put(f, p);
	upstream_project_unref(p);
}

static void add(struct upstream_cache *f, const char *name, int64_t changed, uint64_t epoch)
{
	struct upstream_project *p = project(name, changed);
	upstream_cache_add(f, p, epoch);
	upstream_project_unref(p);
}

// The change of the cached project; -1: it is not cached.
static int64_t change_of(struct upstream_cache *f, const char *name)
{
	struct upstream_project *p = upstream_cache_get(f, name);
	int64_t changed = p ? upstream_project_changed(p) : -1;
	upstream_project_unref(p);
	return changed;
}

static void what_is_newer_stays(void **state UNUSED)
{
	struct upstream_cache *f = upstream_cache_new(10 * PACKED);
	uint64_t before = upstream_cache_epoch(f);
	assert_int_equal(change_of(f, "six"), -1);
	add(f, "six", 1, before);
	assert_int_equal(change_of(f, "six"), 1);
	put(f, "six", 2);
	assert_int_equal(change_of(f, "six"), 2);
	add(f, "six", 1, upstream_cache_epoch(f)); // was read before the other one was put
	assert_int_equal(change_of(f, "six"), 2);
	add(f, "seven", 1, before); // it may have been, too
	assert_int_equal(change_of(f, "seven"), -1);
	upstream_cache_free(f);
}

static void what_others_wrote_goes(void **state UNUSED)
{
	struct upstream_cache *f = upstream_cache_new(10 * PACKED);
	put(f, "six", 7);
	put(f, "seven", 0);
	uint64_t before = upstream_cache_epoch(f);
	assert_true(upstream_cache_note_change(f, "six", 7)); // the change that saved the entry
	assert_false(upstream_cache_note_change(f, "seven", 8));
	assert_false(upstream_cache_note_change(f, "eight", 9));
	assert_int_equal(change_of(f, "six"), 7);
	assert_int_equal(change_of(f, "seven"), -1);
	add(f, "eight", 8, before); // was read before the change
	assert_int_equal(change_of(f, "eight"), -1);
	assert_false(upstream_cache_note_change(f, "six", 10));
	assert_int_equal(change_of(f, "six"), -1);
	upstream_cache_free(f);
}

static void memory_is_bounded(void **state UNUSED)
{
	struct upstream_cache *f = upstream_cache_new(10 * PACKED + PACKED / 2);
	char name[16];
	put(f, "held", 1);
	struct upstream_project *held = upstream_cache_get(f, "held");
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		put(f, name, i + 1);
		assert_int_equal(change_of(f, "p0"), 1); // used again and again
	}
	int there = 0;
	for (int i = 0; i < 30; i++) {
		snprintf(name, sizeof(name), "p%d", i);
		there += change_of(f, name) >= 0;
	}
	assert_in_range(there, 8, 10);
	assert_int_equal(change_of(f, "p29"), 30);
	assert_int_equal(change_of(f, "p1"), -1);
	assert_int_equal(change_of(f, "held"), -1);
	assert_int_equal(upstream_project_changed(held), 1); // a reference stays valid
	put_large(f, "large", 100 * PACKED);                 // nothing is evicted for one that does not fit
	assert_int_equal(change_of(f, "large"), -1);
	assert_int_equal(change_of(f, "p29"), 30);
	upstream_project_unref(held);
	upstream_cache_clear(f);
	assert_int_equal(change_of(f, "p29"), -1);
	upstream_cache_free(f);
}

int main(void)
{
	struct err e = ERR_INIT;
	char url[] = "http://127.0.0.1:1/simple/";
	struct config_upstream one = {.name = (char[]){"upstream"}, .urls = url};
	const struct config config = {.upstreams = {&one, 1}};
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_newer_stays),
		cmocka_unit_test(what_others_wrote_goes),
		cmocka_unit_test(memory_is_bounded),
	};
	if (upstreams_new(&config, &upstreams, &e) < 0)
		return 1;
	int failed = cmocka_run_group_tests(tests, NULL, NULL);
	upstreams_free(upstreams);
	return failed;
}
