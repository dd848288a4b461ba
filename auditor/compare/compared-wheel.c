// SPDX-License-Identifier: Apache-2.0
#include "auditor/compare/compared-wheel.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/wheel/attachment.h"
#include "lib/state/store/stored-facts.h"

enum { BLOCK = 1 << 18 };

static int hash_source(const struct byte_source *bytes, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	CLEANUP(mem_free) char *block = xmalloc(BLOCK);
	digest_begin(d);
	for (uint64_t at = 0; at < bytes->size; at += BLOCK) {
		size_t len = bytes->size - at < BLOCK ? (size_t)(bytes->size - at) : BLOCK;
		if (byte_source_read(bytes, at, block, len, e) < 0)
			return -1;
		digest_add(d, block, len);
	}
	digest_end(d, sha256);
	return 0;
}

// Facts that cannot be had are no failure: the comparison says so.
static void read_facts(const struct compared_wheel_source *from, const struct byte_source *bytes,
	struct compared_wheel *out)
{
	size_t most = from->facts_most ? from->facts_most : LIMIT_FACTS;
	bool has_facts =
		from->catalog && stored_facts_get_most(from->catalog, out->sha256, most, &out->facts, &out->why) == 0;
	if (!has_facts && !from->only_catalog)
		has_facts = wheel_facts_read(bytes, &out->name, &out->facts, &out->why) == 0;
	if (has_facts)
		out->side.facts = &out->facts;
	else
		out->side.why = out->why.msg;
}

static int read_wheel(const struct compared_wheel_source *from, struct compared_wheel *out, struct err *e)
{
	struct byte_source bytes = byte_source_file(from->fd, from->size);
	if (filename_parse(str_from(out->filename), &out->name, e) < 0)
		return err_prefix(e, "%s: ", out->filename);
	if (out->name.kind != FILENAME_WHEEL)
		return err_set(e, ERR_USAGE, "%s is no wheel", out->filename);
	if (from->sha256)
		memcpy(out->sha256, from->sha256, SHA256_SIZE);
	else if (hash_source(&bytes, out->sha256, e) < 0)
		return err_prefix(e, "%s: ", out->label);
	if (wheel_content_read(&bytes, &out->name, &from->limits, &out->content, e) < 0)
		return err_prefix(e, "%s: ", out->label);
	read_facts(from, &bytes, out);
	return 0;
}

int compared_wheel_read(const struct compared_wheel_source *from, struct compared_wheel *out, struct err *e)
{
	*out = (struct compared_wheel){.label = xstrdup(from->label), .filename = xstrdup(from->filename)};
	out->side = (struct compare_side){
		.label = out->label,
		.filename = out->filename,
		.name = &out->name,
		.size = from->size,
		.sha256 = out->sha256,
		.content = &out->content,
	};
	return read_wheel(from, out, e);
}

int compared_wheel_take_provenance(struct compared_wheel *w, struct str statement, struct err *e)
{
	if (attachment_check(ATTACHMENT_STATEMENT, statement, w->filename, w->sha256, e) < 0 ||
		provenance_read(statement, &w->provenance, e) < 0)
		return -1;
	w->side.provenance = &w->provenance;
	return 0;
}

void compared_wheel_release(struct compared_wheel *w)
{
	if (w->side.facts)
		wheel_facts_release(&w->facts);
	provenance_release(&w->provenance);
	wheel_content_release(&w->content);
	filename_release(&w->name);
	free(w->label);
	free(w->filename);
	*w = (struct compared_wheel){0};
}
