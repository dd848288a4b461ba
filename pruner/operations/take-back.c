// SPDX-License-Identifier: Apache-2.0
#include "pruner/operations/take-back.h"

#include "lib/state/publish/sidecar-ops.h"
#include "pruner/plan/pins.h"

int take_back_if_pinned(struct operation *x, const struct take_back_file *f, struct err *trouble, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(mem_free) char *view = NULL;
	if (pins_find(x->catalog, f->platform->id, f->filename, f->sha256, &view, e) < 0)
		return -1;
	if (!view)
		return 0;
	CLEANUP(mem_free) char *words = xasprintf(PINS_WORDS, view);
	bool is_listed = sidecar_ops_restore(f->platform, x->catalog, f->filename, f->folder, f->sha256, &why) == 0;
	operation_report(x, f->platform, f->filename, is_listed ? OPERATION_KEPT : OPERATION_FAILED, f->size,
		is_listed ? words : why.msg);
	if (!is_listed)
		*trouble = why;
	const struct operation_event event = {.platform = f->platform,
		.action = "restore",
		.project = f->project,
		.file = f->filename,
		.sha256 = f->sha256,
		.reason = words,
		.failure = is_listed ? NULL : &why};
	return operation_audit(x, &event, e) < 0 ? -1 : is_listed;
}
