// SPDX-License-Identifier: Apache-2.0
#include "lib/view/render.h"

#include "lib/base/limits.h"
#include "lib/format/escape.h"

static void put_meta(struct buf *out, struct str name, const char *content)
{
	buf_str(out, STR("<meta name=\""));
	buf_str(out, name);
	buf_str(out, STR("\" content=\""));
	escape_html(out, str_from(content));
	buf_str(out, STR("\">\n"));
}

static void html_begin(struct render_state *r)
{
	buf_str(r->out, STR("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			    "<meta name=\"pypi:repository-version\" content=\"1.4\">\n<title>"));
	if (r->project)
		buf_str(r->out, STR("Links for "));
	escape_html(r->out, r->project ? str_from(r->project) : STR("Simple index"));
	buf_str(r->out, STR("</title>\n"));
	if (r->status)
		put_meta(r->out, STR("pypi:project-status"), r->status);
	if (r->status_reason)
		put_meta(r->out, STR("pypi:project-status-reason"), r->status_reason);
	buf_str(r->out, STR("</head>\n<body>\n"));
	if (!r->project)
		return;
	buf_str(r->out, STR("<h1>Links for "));
	escape_html(r->out, str_from(r->project));
	buf_str(r->out, STR("</h1>\n"));
}

static void put_attribute(struct buf *out, struct str name, const char *value)
{
	buf_str(out, name);
	buf_str(out, STR("=\""));
	escape_html(out, str_from(value));
	buf_putc(out, '"');
}

static void put_sha256_attribute(struct buf *out, struct str name, const uint8_t *sha256)
{
	buf_str(out, name);
	buf_str(out, STR("=\"sha256="));
	render_sha256(out, sha256);
	buf_putc(out, '"');
}

static void put_provenance(struct render_state *r, const struct page_file *listed)
{
	CLEANUP(buf_release) struct buf url;
	buf_init(&url, LIMIT_PAGE);
	if (render_provenance(r, listed, &url))
		put_attribute(r->out, STR(" data-provenance"), url.data);
}

// Writes the hash of the metadata under both names (PEP 658 and 714). pip 22.3 to 23.1 know only the old name, and
// compare the Name in METADATA with the requirement as spelled: "pip install pyyaml" rejects a wheel whose METADATA
// says PyYAML. Without the old name they download the wheel and install it.
static void put_link(struct render_state *r, const struct page_file *listed, bool is_old_pip)
{
	struct buf *out = r->out;
	const struct catalog_file *file = &listed->file;
	buf_str(out, STR("<a href=\""));
	render_url(r, listed->place, file->filename);
	if (file->sha256) {
		buf_str(out, STR("#sha256="));
		render_sha256(out, file->sha256);
	}
	buf_putc(out, '"');
	if (file->requires_python)
		put_attribute(out, STR(" data-requires-python"), file->requires_python);
	if (file->yanked)
		put_attribute(out, STR(" data-yanked"), file->yanked);
	if (file->metadata_sha256)
		put_sha256_attribute(out, STR(" data-core-metadata"), file->metadata_sha256);
	if (file->metadata_sha256 && !is_old_pip)
		put_sha256_attribute(out, STR(" data-dist-info-metadata"), file->metadata_sha256);
	if (render_has_unhashed_metadata(listed))
		buf_str(out, is_old_pip ? STR(" data-core-metadata=\"true\"")
					: STR(" data-core-metadata=\"true\" data-dist-info-metadata=\"true\""));
	put_provenance(r, listed);
	buf_putc(out, '>');
	escape_html(out, str_from(file->filename));
	buf_str(out, STR("</a><br>\n"));
}

static void html_file(struct render_state *r, const struct page_file *listed)
{
	put_link(r, listed, false);
}

static void html_file_old_pip(struct render_state *r, const struct page_file *listed)
{
	put_link(r, listed, true);
}

static void html_version(struct render_state *r UNUSED, const struct version *version UNUSED)
{
}

static void html_project(struct render_state *r, const char *project)
{
	buf_str(r->out, STR("<a href=\""));
	escape_url(r->out, str_from(project));
	buf_str(r->out, STR("/\">"));
	escape_html(r->out, str_from(project));
	buf_str(r->out, STR("</a><br>\n"));
}

static void html_end(struct render_state *r)
{
	if (r->left_out) {
		buf_str(r->out, STR("<p>Left out, because other bytes have the same names here: files of "));
		escape_html(r->out, str_from(r->left_out));
		buf_str(r->out, STR(". Each platform has all of its own at an address of its own.</p>\n"));
	}
	buf_str(r->out, STR("</body>\n</html>\n"));
}

const struct renderer render_html = {html_begin, html_file, html_version, html_project, html_end};
const struct renderer render_html_old_pip = {html_begin, html_file_old_pip, html_version, html_project, html_end};
