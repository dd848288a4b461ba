// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/tombstone.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/jsonmap.h"
#include "lib/state/store/sidecar.h"

// Any text may stand in the file: what is not valid counts as unknown.
#define OMITTED .absent = JSONMAP_OMITTED
#define UPSTREAM struct tombstone_upstream
static const struct jsonmap_field upstream_fields[] = {
	JSONMAP_TEXT("filename", UPSTREAM, filename, OMITTED),
	JSONMAP_TEXT("url", UPSTREAM, url, OMITTED),
	JSONMAP_SHA256("sha256", UPSTREAM, sha256, .has = offsetof(UPSTREAM, has_sha256), OMITTED),
	JSONMAP_TIME("uploaded", UPSTREAM, uploaded, OMITTED),
	JSONMAP_TEXT("index", UPSTREAM, index, OMITTED),
	JSONMAP_BOOL("identical", UPSTREAM, is_identical),
};
static const struct jsonmap upstream_map =
	JSONMAP(UPSTREAM, upstream_fields, .present = offsetof(UPSTREAM, filename), .is_lenient = true);

#define TOMBSTONE struct tombstone
static const struct jsonmap_field tombstone_fields[] = {
	JSONMAP_TEXT("reason", TOMBSTONE, reason),
	JSONMAP_TIME("when", TOMBSTONE, when, OMITTED),
	JSONMAP_TEXT("by", TOMBSTONE, by, OMITTED),
	JSONMAP_TEXT("verdict", TOMBSTONE, verdict, OMITTED),
	JSONMAP_TEXT("run", TOMBSTONE, run, OMITTED),
	JSONMAP_TEXT("project", TOMBSTONE, project, OMITTED),
	JSONMAP_SHA256("sha256", TOMBSTONE, sha256, .has = offsetof(TOMBSTONE, has_sha256), OMITTED),
	JSONMAP_INTEGER("size", TOMBSTONE, size, .none = -1, OMITTED),
	JSONMAP_TEXT("requires-python", TOMBSTONE, requires_python, OMITTED),
	JSONMAP_OBJECT("upstream", TOMBSTONE, upstream, &upstream_map, OMITTED),
};
static const struct jsonmap tombstone_map = JSONMAP(TOMBSTONE, tombstone_fields, .is_lenient = true);

int tombstone_write(const struct tombstone *t, struct buf *out, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_SIDECAR);
	jsonmap_write(&tombstone_map, t, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is too long");
	buf_str(out, str_trim(buf_view(&text)));
	return 0;
}

void tombstone_read(struct str text, struct tombstone *out)
{
	struct err none = ERR_INIT;
	CLEANUP(buf_release) struct buf reason = buf_up_to(LIMIT_SIDECAR);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(text, &none);
	*out = (struct tombstone){.size = -1};
	if (doc && jsonmap_read(&tombstone_map, doc, out, &out->text, &none) < 0)
		abort(); // a lenient map refuses nothing
	mark_reason(MARK_PRUNED, text, &reason);
	out->reason = arena_copy(&out->text, buf_view(&reason));
}

void tombstone_release(struct tombstone *t)
{
	arena_release(&t->text);
	*t = (struct tombstone){0};
}

bool tombstone_is_by_us(const struct tombstone *t)
{
	return t->run && t->verdict && strcmp(t->verdict, TOMBSTONE_RETIRED) != 0;
}
