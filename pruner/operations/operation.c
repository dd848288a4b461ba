// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/operation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/store/release.h"

const char *const errand_fate_name[ERRAND_FATE_COUNT] = {
	[ERRAND_DONE] = "done",
	[ERRAND_WOULD] = "would",
	[ERRAND_BEFORE] = "before",
	[ERRAND_KEPT] = "kept",
	[ERRAND_GONE] = "gone",
	[ERRAND_FAILED] = "failed",
};

static int lock(const char *catalog, const char *who, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s.prune", catalog);
	return safefile_lock(path, false, who, e);
}

int errand_begin(struct errand *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e)
{
	*x = (struct errand){.store = store, .catalog = catalog, .audit = audit, .who = who};
	x->is_written = xcalloc(store->platform_count + 1, sizeof(*x->is_written));
	x->lock = lock(catalog_path(catalog), who, e);
	if (x->lock < 0 && e->kind == ERR_BUSY)
		return err_prefix(e, "another prune, purge or restore is under way: ");
	return x->lock < 0 ? -1 : 0;
}

void errand_release(struct errand *x)
{
	mem_close(&x->lock);
	free(x->is_written);
	x->is_written = NULL;
}

void errand_tell(struct errand *x, const struct platform *platform, const char *filename, enum errand_fate fate,
	uint64_t bytes, const char *words)
{
	x->count[fate]++;
	x->bytes[fate] += bytes;
	if (x->tell)
		x->tell(x->tell_ctx, platform, filename, fate, bytes, words);
}

int errand_note(struct errand *x, const struct errand_deed *deed, struct err *e)
{
	char digits[SHA256_HEX + 1] = "";
	if (deed->sha256)
		hex_encode(deed->sha256, SHA256_SIZE, digits);
	if (!deed->failure)
		x->is_written[deed->platform - x->store->platform] = true;
	const struct audit_entry entry = {.who = x->who,
		.action = deed->action,
		.platform = deed->platform->name,
		.project = deed->project,
		.file = deed->file,
		.sha256 = deed->sha256 ? digits : NULL,
		.result = deed->failure ? "failed" : "done",
		.reason = deed->failure ? deed->failure->msg : deed->reason};
	return audit_write(x->audit, &entry, e);
}

static int release(const struct errand *x, const struct platform *p, struct err *e)
{
	const _Atomic int64_t end_ms = clock_ms() + (int64_t)p->release_timeout * 1000;
	int released = release_run(catalog_path(x->catalog), p, &end_ms, true, e);
	if (released == 0)
		return 0; // a server was first
	const struct audit_entry entry = {.who = x->who,
		.action = "release",
		.platform = p->name,
		.result = released < 0 ? "failed" : "done",
		.reason = released < 0 ? e->msg : NULL};
	struct err unwritten = ERR_INIT;
	int written = audit_write(x->audit, &entry, released < 0 ? &unwritten : e);
	if (released < 0)
		err_prefix(e, "platform %s: all is done, but it is not released: ", p->name);
	return released < 0 || written < 0 ? -1 : 0;
}

// What an earlier errand wrote and could not release is wanted still.
int errand_end(struct errand *x, struct err *e)
{
	int result = 0;
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		int64_t since;
		struct err why = ERR_INIT;
		if (!p->release || !(x->is_written[i] || release_is_wanted(catalog_path(x->catalog), p, &since)))
			continue;
		if (release(x, p, &why) < 0) {
			*e = why;
			result = -1;
		}
	}
	return result;
}

char *errand_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
}
