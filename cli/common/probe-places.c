// SPDX-License-Identifier: Apache-2.0
#include "cli/common/probe-places.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/place/place-s3.h"
#include "lib/state/config/state-files.h"

enum { DAY_SECONDS = 86400 };

struct one_place {
	const char *address;
	probe_places_fn *fn;
	void *ctx;
};

static void tell_of_place(void *ctx, enum s3_probe_result result, const char *what, const char *words)
{
	const struct one_place *p = ctx;
	p->fn(p->ctx, p->address, result, what, words);
}

// What lies below another one is that one's.
static void add_address(struct strset *all, const char *store, const char *address)
{
	bool is_below = store && address && str_starts(str_from(address), str_from(store));
	if (address && place_s3_is(address) && (!is_below || address == store))
		strset_add(all, address);
}

static void find_addresses(const struct config *c, struct strset *all)
{
	add_address(all, c->store, c->store);
	add_address(all, c->store, c->views_path);
	for (size_t i = 0; i < c->platform_count; i++) {
		add_address(all, c->store, c->platforms[i].path);
		add_address(all, c->store, c->platforms[i].write_path);
	}
	strset_sort(all);
}

static bool was_probed_today(const char *note)
{
	struct stat st;
	return note && stat(note, &st) == 0 && clock_wall_seconds() - st.st_mtime < DAY_SECONDS &&
	       clock_wall_seconds() >= st.st_mtime;
}

static void note_probe(const char *note)
{
	struct err e = ERR_INIT;
	CLEANUP(mem_close) int fd = safefile_open(note, O_WRONLY | O_CREAT, &e);
	if (fd < 0 || futimens(fd, NULL) < 0)
		log_debug("it is not noted that the buckets were probed: %s", e.msg);
}

enum s3_probe_result probe_places(const struct config *c, const char *catalog_path, probe_places_fn *fn, void *ctx)
{
	struct strset all = {0};
	find_addresses(c, &all);
	CLEANUP(mem_free) char *note = catalog_path ? state_file(c, catalog_path, STATE_FILE_PROBED) : NULL;
	enum s3_probe_result worst = S3_PROBE_FINE;
	bool is_full = !was_probed_today(note);
	for (size_t i = 0; i < all.count; i++) {
		struct one_place one = {all.item[i], fn, ctx};
		enum s3_probe_result result = place_s3_probe(all.item[i], is_full, tell_of_place, &one);
		worst = result > worst ? result : worst;
	}
	if (all.count && note && is_full && worst < S3_PROBE_AWAY)
		note_probe(note);
	strset_release(&all);
	return worst;
}
