// SPDX-License-Identifier: Apache-2.0
#include "lib/view/render.h"

#include "lib/domain/wheel/attachment.h"
#include "lib/format/escape.h"

void render_url(struct render_state *r, const char *platform, const char *filename)
{
	buf_str(r->out, r->link_prefix);
	buf_str(r->out, STR("files/"));
	escape_url(r->out, str_from(platform));
	buf_putc(r->out, '/');
	escape_url(r->out, str_from(r->project));
	buf_putc(r->out, '/');
	escape_url(r->out, str_from(filename));
}

void render_sha256(struct buf *out, const uint8_t *sha256)
{
	char hex[SHA256_HEX];
	hex_encode(sha256, SHA256_SIZE, hex);
	buf_add(out, hex, sizeof(hex));
}

bool render_provenance(struct render_state *r, const struct page_file *listed, struct buf *out)
{
	if (listed->upstream && listed->upstream->provenance)
		buf_puts(out, listed->upstream->provenance);
	else if (!listed->upstream && listed->file.provenance) {
		struct render_state url = *r;
		url.out = out;
		render_url(&url, listed->place, listed->file.filename);
		buf_puts(out, attachment_ending[ATTACHMENT_PROVENANCE]);
	} else
		return false;
	return true;
}

bool render_has_unhashed_metadata(const struct page_file *listed)
{
	return !listed->file.metadata_sha256 && listed->upstream && listed->upstream->has_metadata;
}
