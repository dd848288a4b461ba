// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/project-status.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/mark.h"
#include "lib/format/jsonmap.h"
#include "lib/state/catalog/catalog-mark.h"
#include "lib/state/store/sidecar.h"

static const char unreadable[] = "its .status cannot be read";

#define STATUS struct project_status
static const struct jsonmap_field status_fields[] = {
	JSONMAP_ROW("status", NAME, STATUS, status, enum simplepage_status, .name = simplepage_status_name,
		.names = SIMPLEPAGE_UNFAMILIAR),
	JSONMAP_TEXT("reason", STATUS, reason, .is_sentence = true),
	JSONMAP_TIME("when", STATUS, when, .absent = JSONMAP_OMITTED),
	JSONMAP_TEXT("by", STATUS, by, .is_sentence = true, .absent = JSONMAP_OMITTED),
};
static const struct jsonmap status_map = JSONMAP(STATUS, status_fields);

int project_status_write(const struct project_status *s, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	jsonmap_write(&status_map, s, &text);
	if (text.failed || strlen(s->reason) > LIMIT_REASON)
		return err_set(e, ERR_LIMIT, "the reason is longer than %d bytes", LIMIT_REASON);
	buf_str(out, str_trim(buf_view(&text)));
	return 0;
}

int project_status_read(struct str text, struct project_status *out, struct err *e)
{
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_SIDECAR);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, e);
	*out = (struct project_status){0};
	int read = doc ? jsonmap_read(&status_map, doc, out, &out->text, e) : -1;
	if (read < 0) {
		out->status = SIMPLEPAGE_QUARANTINED;
		out->reason = unreadable;
		out->by = NULL;
		e->kind = ERR_INVALID;
		return -1;
	}
	mark_reason(MARK_STATUS, text, &reason);
	out->reason = arena_copy(&out->text, buf_view(&reason));
	return 0;
}

struct status_search {
	const struct platform *const *platform;
	size_t platforms;
	struct project_status *out;
};

static bool is_stricter(enum simplepage_status a, enum simplepage_status b)
{
	static const unsigned strictness[SIMPLEPAGE_STATUS_COUNT] = {
		[SIMPLEPAGE_DEPRECATED] = 1, [SIMPLEPAGE_ARCHIVED] = 2, [SIMPLEPAGE_QUARANTINED] = 3};
	return strictness[a] > strictness[b];
}

static int look_at_status(void *ctx, int64_t platform, const char *folder_path UNUSED, struct str text, struct err *e UNUSED)
{
	struct status_search *s = ctx;
	struct err damaged = ERR_INIT; // the scan reports it
	struct project_status found;
	size_t i = 0;
	while (i < s->platforms && s->platform[i]->id != platform)
		i++;
	if (i == s->platforms)
		return 0;
	int read UNUSED = project_status_read(text, &found, &damaged);
	if (is_stricter(found.status, s->out->status)) {
		project_status_release(s->out);
		*s->out = found;
	} else {
		project_status_release(&found);
	}
	return 0;
}

int project_status_find(struct catalog *c, const char *project, const struct platform *const *platform, size_t count,
	struct project_status *out, struct err *e)
{
	struct status_search s = {platform, count, out};
	*out = (struct project_status){.reason = ""};
	return catalog_statuses(c, project, look_at_status, &s, e);
}

struct damage_search {
	project_status_damage_fn *fn;
	void *ctx;
};

static int tell_damage(void *ctx, const struct catalog_marked *m, struct err *e UNUSED)
{
	struct damage_search *s = ctx;
	struct err why = ERR_INIT;
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_read(str_from(m->text ? m->text : ""), &status, &why) == 0)
		return 0;
	CLEANUP(mem_free)
	char *words = xasprintf("%s%s%s: %s: %s is in quarantine there until it can be read", m->folder_path,
		*m->folder_path ? "/" : "", sidecar_ending[MARK_STATUS], why.msg, m->filename);
	s->fn(s->ctx, words);
	return 0;
}

int project_status_damages(struct catalog *c, int64_t platform, project_status_damage_fn *fn, void *ctx, struct err *e)
{
	struct damage_search s = {fn, ctx};
	return catalog_marks(c, platform, MARK_STATUS, tell_damage, &s, e);
}

struct jsondoc *project_status_json(const struct project_status *s, bool sees_names)
{
	if (s->status == SIMPLEPAGE_ACTIVE)
		return NULL;
	return jsondoc_new("status:s reason:s when:T by:k", simplepage_status_name[s->status], s->reason, s->when,
		sees_names ? s->by : NULL);
}

bool project_status_takes_files(const struct project_status *s)
{
	return s->status != SIMPLEPAGE_QUARANTINED && s->status != SIMPLEPAGE_ARCHIVED;
}

void project_status_release(struct project_status *s)
{
	arena_release(&s->text);
	*s = (struct project_status){0};
}
