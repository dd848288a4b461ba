// SPDX-License-Identifier: Apache-2.0
// Records that tables of fields describe (lib/format/jsonmap.h): what is accepted has one form, which is read and
// written again as the same. The first letter is the record.
#include <string.h>

#include "auditor/rebuild/rebuild-set.h"
#include "bundler/bundle.h"
#include "lib/base/limits.h"
#include "lib/domain/promotion/evidence.h"
#include "lib/state/catalog/arrivals.h"
#include "lib/state/catalog/catalog-told.h"
#include "lib/state/results/attempt-file.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/tombstone.h"
#include "lib/state/views/membership.h"
#include "promoter/promote-answer.h"
#include "tests/fuzz/fuzz.h"

// Appends the form of the record that the text has. -1: it is not accepted.
typedef int form_fn(struct str text, struct buf *out, struct err *e);

static int form_of_evidence(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(evidence_release) struct evidence r = {0};
	if (evidence_read(text, &r, e) < 0)
		return -1;
	HOLDS(r.wheels && (r.overrides || r.failures <= LIMIT_JUNIT_FAILURES));
	evidence_write(&r, out);
	return 0;
}

static int form_of_membership(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(membership_release) struct membership_change m = {0};
	if (membership_read(text, &m, e) < 0)
		return -1;
	HOLDS(m.generation >= 1 && m.has_previous == (m.generation > 1));
	membership_write(&m, out);
	return 0;
}

static int form_of_answer(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(promote_answer_release) struct promote_answer a = {0};
	if (promote_answer_read(text, &a, e) < 0)
		return -1;
	promote_write_json(&a, "tested", false, out);
	return 0;
}

// Any text is accepted. Of a text with control bytes more than the first form cuts, so the form is that of the form.
static int form_of_tombstone(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(tombstone_release) struct tombstone t, again;
	CLEANUP(buf_release) struct buf form;
	buf_init(&form, LIMIT_MEMBERSHIP);
	tombstone_read(text, &t);
	HOLDS(t.reason && t.size >= -1 && t.when >= 0);
	again = (struct tombstone){0};
	if (tombstone_write(&t, &form, e) < 0)
		return -1;
	tombstone_read(buf_view(&form), &again);
	return tombstone_write(&again, out, e);
}

// What is no status is quarantined.
static int form_of_status(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(project_status_release) struct project_status s = {0};
	int read = project_status_read(text, &s, e);
	HOLDS(s.reason && s.status < SIMPLEPAGE_UNFAMILIAR && (read == 0 || s.status == SIMPLEPAGE_QUARANTINED));
	return read < 0 ? -1 : project_status_write(&s, out, e);
}

static int form_of_rebuilds(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(rebuild_set_cleanup) struct rebuild_set *s = NULL;
	return rebuild_set_parse(text, &s, e) < 0 ? -1 : rebuild_set_write(s, "debian-12-x86_64", NULL, out, e);
}

static int form_of_build(struct str text, struct buf *out, struct err *e)
{
	CLEANUP(attempt_file_release) struct kept_attempt f = {0};
	if (attempt_file_parse(text, &f, e) < 0)
		return -1;
	attempt_file_line(&f, out);
	buf_str(out, f.packed);
	return 0;
}

static int form_of_arrivals(struct str text, struct buf *out, struct err *e)
{
	struct arrivals a;
	CLEANUP(arena_release) struct arena room = {0};
	if (arrivals_read(text, &a, &room, e) < 0)
		return -1;
	arrivals_write(&a, out);
	return 0;
}

static int form_of_told(struct str text, struct buf *out, struct err *e)
{
	struct told_record t;
	CLEANUP(arena_release) struct arena room = {0};
	if (told_read(text, &t, &room, e) < 0)
		return -1;
	told_write(&t, out);
	return 0;
}

static int form_of_bundle_head(struct str text, struct buf *out, struct err *e)
{
	struct bundle_head h;
	CLEANUP(arena_release) struct arena room = {0};
	if (bundle_head_read(text, &h, &room, e) < 0)
		return -1;
	bundle_head_write(&h, out);
	return 0;
}

// Whoever unpacks the archive stays in the folder.
static int form_of_bundle_row(struct str text, struct buf *out, struct err *e)
{
	struct bundle_row r;
	CLEANUP(arena_release) struct arena room = {0};
	CLEANUP(buf_release) struct buf path = buf_up_to(LIMIT_PATH);
	if (bundle_row_read(text, &r, &room, e) < 0)
		return -1;
	bundle_row_path(&r, r.pieces ? &r.piece[0] : NULL, &path);
	HOLDS(path.data[0] != '/' && !strstr(path.data, "//") && !strstr(path.data, "/."));
	HOLDS(bundle_row_compare(&r, &r) == 0);
	bundle_row_write(&r, out);
	return 0;
}

static form_fn *record_of(char letter)
{
	switch (letter) {
	case 'e':
		return form_of_evidence;
	case 'm':
		return form_of_membership;
	case 'a':
		return form_of_answer;
	case 't':
		return form_of_tombstone;
	case 's':
		return form_of_status;
	case 'v':
		return form_of_told;
	case 'c':
		return form_of_arrivals;
	case 'h':
		return form_of_bundle_head;
	case 'w':
		return form_of_bundle_row;
	case 'b':
		return form_of_build;
	case 'r':
		return form_of_rebuilds;
	default:
		return NULL;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf one, two;
	buf_init(&one, LIMIT_MEMBERSHIP);
	buf_init(&two, LIMIT_MEMBERSHIP);
	form_fn *form = size ? record_of((char)bytes[0]) : NULL;
	if (!form)
		return 0;
	if (form(fuzz_text(bytes + 1, size - 1), &one, &e) < 0) {
		HOLDS(*e.msg && (e.kind == ERR_INVALID || e.kind == ERR_LIMIT));
		return 0;
	}
	HOLDS(form(buf_view(&one), &two, &e) == 0);
	HOLDS(str_eq(buf_view(&one), buf_view(&two)));
	return 0;
}
