// SPDX-License-Identifier: Apache-2.0
#include "lib/view/render.h"

#include "lib/base/escape.h"

static void html_begin(struct rendering *r)
{
	buf_str(r->out, STR("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			    "<meta name=\"pypi:repository-version\" content=\"1.4\">\n<title>"));
	if (r->project)
		buf_str(r->out, STR("Links for "));
	escape_html(r->out, r->project ? str_from(r->project) : STR("Simple index"));
	buf_str(r->out, STR("</title>\n</head>\n<body>\n"));
	if (!r->project)
		return;
	buf_str(r->out, STR("<h1>Links for "));
	escape_html(r->out, str_from(r->project));
	buf_str(r->out, STR("</h1>\n"));
}

static void attribute(struct buf *out, struct str name, const char *value)
{
	buf_str(out, name);
	buf_str(out, STR("=\""));
	escape_html(out, str_from(value));
	buf_putc(out, '"');
}

static void attribute_sha256(struct buf *out, struct str name, const uint8_t *sha256)
{
	buf_str(out, name);
	buf_str(out, STR("=\"sha256="));
	render_sha256(out, sha256);
	buf_putc(out, '"');
}

// PEP 658 and 714: the metadata's hash under both names. pip 22.3 to 23.1 know the old name only, and then hold
// METADATA's Name against the requirement as it is spelled: "pip install pyyaml" refuses a wheel whose METADATA says
// PyYAML. Without the old name they fetch the wheel, and install it.
static void put_file(struct rendering *r, const char *platform, const struct catalog_file *file, bool is_old_pip)
{
	struct buf *out = r->out;
	buf_str(out, STR("<a href=\""));
	render_url(r, platform, file->filename);
	buf_str(out, STR("#sha256="));
	render_sha256(out, file->sha256);
	buf_putc(out, '"');
	if (file->requires_python)
		attribute(out, STR(" data-requires-python"), file->requires_python);
	if (file->yanked)
		attribute(out, STR(" data-yanked"), file->yanked);
	if (file->metadata_sha256)
		attribute_sha256(out, STR(" data-core-metadata"), file->metadata_sha256);
	if (file->metadata_sha256 && !is_old_pip)
		attribute_sha256(out, STR(" data-dist-info-metadata"), file->metadata_sha256);
	buf_putc(out, '>');
	escape_html(out, str_from(file->filename));
	buf_str(out, STR("</a><br>\n"));
}

static void html_file(struct rendering *r, const char *platform, const struct catalog_file *file)
{
	put_file(r, platform, file, false);
}

static void html_file_old_pip(struct rendering *r, const char *platform, const struct catalog_file *file)
{
	put_file(r, platform, file, true);
}

static void html_project(struct rendering *r, const char *project)
{
	buf_str(r->out, STR("<a href=\""));
	escape_url(r->out, str_from(project));
	buf_str(r->out, STR("/\">"));
	escape_html(r->out, str_from(project));
	buf_str(r->out, STR("</a><br>\n"));
}

static void html_end(struct rendering *r)
{
	buf_str(r->out, STR("</body>\n</html>\n"));
}

const struct renderer render_html = {html_begin, html_file, html_project, html_end};
const struct renderer render_html_old_pip = {html_begin, html_file_old_pip, html_project, html_end};
