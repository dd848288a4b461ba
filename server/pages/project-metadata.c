// SPDX-License-Identifier: Apache-2.0
#include "server/pages/project-metadata.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/pyspace.h"
#include "lib/domain/text/rfc822-fields.h"
#include "lib/domain/wheel/metadata.h"

enum { LICENSE_BYTES = 200 }; // some files have the whole text as their License

static const char *keep_value(struct project_metadata *m, struct str value, size_t most)
{
	return arena_copy(&m->text, str_head(pyspace_trim(value), most));
}

static void take_first(struct project_metadata *m, const char **field, struct str value)
{
	if (!*field && pyspace_trim(value).len)
		*field = keep_value(m, value, LIMIT_PROJECT_FIELD);
}

static void take_dependency(struct project_metadata *m, struct str value)
{
	if (m->dependencies >= LIMIT_PROJECT_DEPENDENCIES) {
		m->has_more = true;
		return;
	}
	GROW(m->dependency, m->dependencies, m->dependency_room);
	m->dependency[m->dependencies++] = keep_value(m, value, LIMIT_PROJECT_FIELD);
}

// A URL that a page may link to: no other scheme, nothing that is no URL.
static bool is_web_url(struct str url)
{
	bool is_http = str_starts(url, STR("https://")) || str_starts(url, STR("http://"));
	for (size_t i = 0; i < url.len; i++)
		if ((unsigned char)url.ptr[i] <= ' ' || (unsigned char)url.ptr[i] >= 0x7f ||
			strchr("\"<>\\^`{|}", url.ptr[i]))
			return false;
	return is_http && url.len <= LIMIT_PROJECT_FIELD;
}

static void take_link(struct project_metadata *m, struct str label, struct str url)
{
	url = pyspace_trim(url);
	if (!is_web_url(url))
		return;
	if (m->links >= LIMIT_PROJECT_LINKS) {
		m->has_more = true;
		return;
	}
	GROW(m->link, m->links, m->link_room);
	m->link[m->links++] =
		(struct project_link){keep_value(m, label, LIMIT_NOTE), keep_value(m, url, LIMIT_PROJECT_FIELD)};
}

// "Label, URL"
static void take_project_url(struct project_metadata *m, struct str value)
{
	struct str url = value;
	struct str label = str_cut(&url, ',');
	take_link(m, label, url.ptr ? url : value);
}

// What may be the licence, the best last.
struct license_words {
	struct str classifier, license, expression;
};

static void take_license(struct license_words *l, const struct rfc822_field *f)
{
	static const struct str classifier = STR("License :: ");
	if (str_eq_nocase(f->name, STR("License-Expression")))
		l->expression = pyspace_trim(f->value);
	else if (str_eq_nocase(f->name, STR("License")) && !str_eq_nocase(f->value, STR("UNKNOWN"))) {
		struct str text = pyspace_trim(f->value);
		l->license = pyspace_trim(str_cut(&text, '\n'));
	} else if (str_eq_nocase(f->name, STR("Classifier")) && str_starts(f->value, classifier))
		l->classifier = pyspace_trim(str_slice(f->value, classifier.len, f->value.len));
}

static void keep_license(struct project_metadata *m, const struct license_words *l)
{
	struct str best = l->expression.len ? l->expression : l->license.len ? l->license : l->classifier;
	if (best.len)
		m->license = keep_value(m, best, LICENSE_BYTES);
}

static void keep_description(struct project_metadata *m, struct str metadata)
{
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, LIMIT_METADATA);
	description_take(metadata, &text);
	if (text.len)
		m->description = (struct str){arena_copy(&m->text, buf_view(&text)), text.len};
}

static void take_field(struct project_metadata *m, const struct rfc822_field *f)
{
	const struct {
		struct str name;
		const char **field;
	} single[] = {
		{STR("Summary"), &m->summary},
		{STR("Author"), &m->author},
		{STR("Author-email"), &m->author},
		{STR("Requires-Python"), &m->requires_python},
		{STR("Description-Content-Type"), &m->description_type},
	};
	for (size_t i = 0; i < ARRAY_SIZE(single); i++)
		if (str_eq_nocase(f->name, single[i].name))
			take_first(m, single[i].field, f->value);
	if (str_eq_nocase(f->name, STR("Requires-Dist")))
		take_dependency(m, f->value);
	else if (str_eq_nocase(f->name, STR("Project-URL")))
		take_project_url(m, f->value);
	else if (str_eq_nocase(f->name, STR("Home-page")))
		take_link(m, STR("Home page"), f->value);
}

void project_metadata_read(struct str metadata, struct project_metadata *out)
{
	struct rfc822_field f;
	struct license_words license = {0};
	struct str rest = metadata;
	*out = (struct project_metadata){0};
	while (rfc822_fields_next(&rest, &f)) {
		take_field(out, &f);
		take_license(&license, &f);
	}
	keep_description(out, metadata);
	keep_license(out, &license);
}

void project_metadata_release(struct project_metadata *m)
{
	free(m->dependency);
	free(m->link);
	arena_release(&m->text);
	*m = (struct project_metadata){0};
}
