// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/operation.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/os/clock.h"
#include "lib/os/safefile.h"
#include "lib/state/store/release.h"

const char *const operation_op_result_name[OPERATION_FATE_COUNT] = {
	[OPERATION_DONE] = "done",
	[OPERATION_WOULD] = "would",
	[OPERATION_BEFORE] = "before",
	[OPERATION_KEPT] = "kept",
	[OPERATION_GONE] = "gone",
	[OPERATION_FAILED] = "failed",
};

static int lock(const char *catalog, const char *who, struct err *e)
{
	CLEANUP(mem_free) char *path = xasprintf("%s.prune", catalog);
	return safefile_lock(path, false, who, e);
}

int operation_begin(struct operation *x, const struct store *store, struct catalog *catalog, struct audit *audit,
	const char *who, struct err *e)
{
	*x = (struct operation){.store = store, .catalog = catalog, .audit = audit, .who = who};
	x->is_written = xcalloc(store->platform_count + 1, sizeof(*x->is_written));
	x->lock = lock(catalog_path(catalog), who, e);
	if (x->lock < 0 && e->kind == ERR_BUSY)
		return err_prefix(e, "another prune, purge or restore is under way: ");
	return x->lock < 0 ? -1 : 0;
}

void operation_release(struct operation *x)
{
	mem_close(&x->lock);
	free(x->is_written);
	x->is_written = NULL;
}

void operation_tell(struct operation *x, const struct platform *platform, const char *filename,
	enum operation_op_result op_result, uint64_t bytes, const char *words)
{
	x->count[op_result]++;
	x->bytes[op_result] += bytes;
	if (x->tell)
		x->tell(x->tell_ctx, platform, filename, op_result, bytes, words);
}

int operation_note(struct operation *x, const struct operation_op_event *op_event, struct err *e)
{
	char digits[SHA256_HEX + 1] = "";
	if (op_event->sha256)
		hex_encode(op_event->sha256, SHA256_SIZE, digits);
	if (!op_event->failure)
		x->is_written[op_event->platform - x->store->platform] = true;
	const struct audit_entry entry = {.who = x->who,
		.action = op_event->action,
		.platform = op_event->platform->name,
		.project = op_event->project,
		.file = op_event->file,
		.sha256 = op_event->sha256 ? digits : NULL,
		.result = op_event->failure ? "failed" : "done",
		.reason = op_event->failure ? op_event->failure->msg : op_event->reason};
	return audit_write(x->audit, &entry, e);
}

static int release(const struct operation *x, const struct platform *p, struct err *e)
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
int operation_end(struct operation *x, struct err *e)
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

char *operation_folder(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? xstrndup(path, (size_t)(slash - path)) : xstrdup("");
}
