// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/operation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/store/release.h"

const char *const operation_result_name[OPERATION_RESULT_COUNT] = {
	[OPERATION_DONE] = "done",
	[OPERATION_WOULD] = "would",
	[OPERATION_BEFORE] = "before",
	[OPERATION_KEPT] = "kept",
	[OPERATION_GONE] = "gone",
	[OPERATION_FAILED] = "failed",
};

static int lock_prune(const char *catalog, const char *who, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s.prune", catalog);
	return safefile_lock(path, false, who, e);
}

int operation_begin(struct operation *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e)
{
	*x = (struct operation){.store = store, .catalog = catalog, .audit = audit, .who = who};
	x->is_written = xcalloc(store->platform_count + 1, sizeof(*x->is_written));
	x->lock = lock_prune(catalog_path(catalog), who, e);
	if (x->lock < 0 && e->kind == ERR_BUSY)
		return err_prefix(e, "another prune, purge, restore or retain is under way: ");
	return x->lock < 0 ? -1 : 0;
}

void operation_release(struct operation *x)
{
	mem_close(&x->lock);
	free(x->is_written);
	x->is_written = NULL;
}

void operation_report(struct operation *x, const struct platform *platform, const char *filename,
	enum operation_result result, uint64_t bytes, const char *words)
{
	x->count[result]++;
	x->bytes[result] += bytes;
	if (x->report)
		x->report(x->report_ctx, platform, filename, result, bytes, words);
}

int operation_audit(struct operation *x, const struct operation_event *event, struct err *e)
{
	char digits[SHA256_HEX + 1] = "";
	if (event->sha256)
		hex_encode(event->sha256, SHA256_SIZE, digits);
	if (!event->failure)
		x->is_written[event->platform - x->store->platform] = true;
	const struct audit_entry entry = {.who = x->who,
		.action = event->action,
		.platform = event->platform->name,
		.project = event->project,
		.file = event->file,
		.sha256 = event->sha256 ? digits : NULL,
		.result = event->failure ? "failed" : "done",
		.reason = event->failure ? event->failure->msg : event->reason};
	return audit_write(x->audit, &entry, e);
}

static int release_platform(const struct operation *x, const struct platform *p, struct err *e)
{
	const _Atomic int64_t end_ms = clock_ms() + (int64_t)p->release_timeout * 1000;
	int released = release_run(catalog_path(x->catalog), p, &end_ms, true, e);
	if (released == 0)
		return 0; // a server has released it meanwhile
	const struct audit_entry entry = {.who = x->who,
		.action = "release",
		.platform = p->name,
		.result = released < 0 ? "failed" : "done",
		.reason = released < 0 ? e->msg : NULL};
	struct err unwritten = ERR_INIT;
	int written = audit_write(x->audit, &entry, released < 0 ? &unwritten : e);
	if (released < 0)
		err_prefix(e, "platform %s: all changes are made, but it is not released: ", p->name);
	return released < 0 || written < 0 ? -1 : 0;
}

// Also releases platforms that an earlier operation wrote and could not release.
int operation_end(struct operation *x, struct err *e)
{
	int result = 0;
	for (size_t i = 0; i < x->store->platform_count; i++) {
		const struct platform *p = &x->store->platform[i];
		int64_t since;
		struct err why = ERR_INIT;
		if (!p->release || !(x->is_written[i] || release_is_wanted(catalog_path(x->catalog), p, &since)))
			continue;
		if (release_platform(x, p, &why) < 0) {
			*e = why;
			result = -1;
		}
	}
	return result;
}

char *operation_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
}
