// SPDX-License-Identifier: Apache-2.0
#include "lib/state/store/tombstone.h"

#include <stdlib.h>

#include "lib/base/limits.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/store/sidecar.h"

static void put_text(struct jsondoc *doc, const char *key, const char *value)
{
	if (value)
		jsondoc_put_str(doc, key, value);
}

static void put_sha256(struct jsondoc *doc, bool has, const uint8_t sha256[SHA256_SIZE])
{
	char digits[SHA256_HEX + 1] = "";
	if (!has)
		return;
	hex_encode(sha256, SHA256_SIZE, digits);
	jsondoc_put_str(doc, "sha256", digits);
}

static struct jsondoc *upstream_document(const struct tombstone_upstream *u)
{
	struct jsondoc *doc = jsondoc_object();
	put_text(doc, "filename", u->filename);
	put_text(doc, "url", u->url);
	put_sha256(doc, u->has_sha256, u->sha256);
	jsondoc_put_known_time(doc, "uploaded", u->uploaded);
	put_text(doc, "index", u->index);
	jsondoc_put_bool(doc, "identical", u->is_identical);
	return doc;
}

int tombstone_write(const struct tombstone *t, struct buf *out, struct err *e)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_SIDECAR);
	jsondoc_put_str(doc, "reason", t->reason);
	jsondoc_put_known_time(doc, "when", t->when);
	put_text(doc, "by", t->by);
	put_text(doc, "verdict", t->verdict);
	put_text(doc, "run", t->run);
	put_text(doc, "project", t->project);
	put_sha256(doc, t->has_sha256, t->sha256);
	if (t->size >= 0)
		jsondoc_put_int(doc, "size", t->size);
	put_text(doc, "requires-python", t->requires_python);
	if (t->upstream.filename)
		jsondoc_put(doc, "upstream", upstream_document(&t->upstream));
	jsondoc_write(doc, 0, &text);
	if (text.failed)
		return err_set(e, ERR_LIMIT, "the reason is too long");
	buf_str(out, str_trim(buf_view(&text)));
	return 0;
}

static int64_t get_time(const struct jsondoc *doc, const char *key)
{
	int64_t seconds;
	const char *text = jsondoc_get_str(doc, key);
	return text && clock_read(text, &seconds) ? seconds : 0;
}

static bool get_sha256(const struct jsondoc *doc, uint8_t sha256[SHA256_SIZE])
{
	const char *digits = jsondoc_get_str(doc, "sha256");
	return digits && hex_decode(str_from(digits), sha256, SHA256_SIZE);
}

static void read_upstream(const struct jsondoc *doc, struct tombstone_upstream *out)
{
	out->filename = jsondoc_get_str(doc, "filename");
	out->url = jsondoc_get_str(doc, "url");
	out->index = jsondoc_get_str(doc, "index");
	out->has_sha256 = get_sha256(doc, out->sha256);
	out->uploaded = get_time(doc, "uploaded");
	out->is_identical = jsondoc_is_true(doc, "identical");
}

static void read_document(const struct jsondoc *doc, struct tombstone *out)
{
	const struct jsondoc *upstream = jsondoc_get(doc, "upstream");
	out->when = get_time(doc, "when");
	out->by = jsondoc_get_str(doc, "by");
	out->verdict = jsondoc_get_str(doc, "verdict");
	out->run = jsondoc_get_str(doc, "run");
	out->project = jsondoc_get_str(doc, "project");
	out->has_sha256 = get_sha256(doc, out->sha256);
	if (!jsondoc_get_int(doc, "size", &out->size) || out->size < 0)
		out->size = -1;
	out->requires_python = jsondoc_get_str(doc, "requires-python");
	if (upstream)
		read_upstream(upstream, &out->upstream);
}

void tombstone_read(struct str text, struct tombstone *out)
{
	struct err no_json = ERR_INIT;
	CLEANUP(buf_release) struct buf reason;
	buf_init(&reason, LIMIT_SIDECAR);
	*out = (struct tombstone){.size = -1, .document = jsondoc_read(text, &no_json)};
	mark_reason(MARK_PRUNED, text, &reason);
	out->reason = out->line = buf_steal(&reason);
	if (out->document)
		read_document(out->document, out);
}

void tombstone_release(struct tombstone *t)
{
	jsondoc_cleanup(&t->document);
	free(t->line);
	*t = (struct tombstone){0};
}

bool tombstone_is_by_us(const struct tombstone *t)
{
	return t->run && t->verdict && strcmp(t->verdict, TOMBSTONE_RETIRED) != 0;
}
