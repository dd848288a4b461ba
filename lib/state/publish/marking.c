// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/marking.h"

#include "lib/os/clock.h"

enum { PROBE_MS = 2000 };

int marking_check_volume(const struct platform *p, struct err *e)
{
	struct err why = ERR_INIT; // what a bucket says is for the log of the scan
	if (!p->is_away && place_answers(p->written, NULL, clock_ms() + PROBE_MS, &why))
		return 0;
	return err_set(e, ERR_BUSY, "platform %s: its volume does not answer: nothing was done", p->name);
}

const char *marking_result(int marked, const struct err *e)
{
	if (marked == 0)
		return "done";
	return e->kind == ERR_BUSY ? "refused" : "failed";
}

int marking_file(const struct marking *m, const char *filename, const struct platform *p, struct catalog *c,
	struct audit *audit, struct err *e)
{
	struct err unknown = ERR_INIT, unwritten = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	char sha256[SHA256_HEX + 1] = "";
	bool is_known = catalog_find_file(c, p->id, filename, &place, &unknown) == 0;
	if (is_known)
		hex_encode(place.sha256, SHA256_SIZE, sha256);
	int marked = m->mark(m->ctx, p, c, e);
	if (marked < 0 && e->kind == ERR_NOT_FOUND)
		return -1;
	const struct audit_entry entry = {.who = m->who,
		.peer = m->peer,
		.action = m->action,
		.platform = p->name,
		.project = place.project,
		.file = filename,
		.sha256 = is_known ? sha256 : NULL,
		.result = marking_result(marked, e),
		.reason = marked < 0 ? e->msg : m->reason};
	int written = audit_write(audit, &entry, marked < 0 ? &unwritten : e);
	return marked < 0 || written < 0 ? -1 : 0;
}
