// SPDX-License-Identifier: Apache-2.0
#include <stddef.h>

#include "lib/base/limits.h"
#include "lib/domain/index/simplepage-html.h"
#include "lib/domain/index/simplepage-json.h"
#include "lib/domain/index/simplepage-make.h"

typedef enum simplepage_fault parser(struct simplepage_make *m, struct str body, struct err *e);

// The content types of PEP 691. Clients accept no others.
static const struct dialect {
	const char *type;
	parser *parse;
} dialects[] = {
	{"application/vnd.pypi.simple.v1+json", simplepage_read_json},
	{"application/vnd.pypi.simple.v1+html", simplepage_read_html},
	{"text/html", simplepage_read_html},
};

static parser *find_parser(struct str content_type)
{
	struct str type = str_trim(str_cut(&content_type, ';'));
	for (size_t i = 0; i < ARRAY_SIZE(dialects); i++)
		if (str_eq_nocase(type, str_from(dialects[i].type)))
			return dialects[i].parse;
	return NULL;
}

static enum simplepage_fault parse_page(struct str body, struct str content_type, struct simplepage_make *m,
	struct simplepage *out, struct err *e)
{
	parser *parse = find_parser(content_type);
	if (!parse) {
		err_set(e, ERR_INVALID, "not a simple page: its type is \"%.*s\"",
			content_type.len > 100 ? 100 : (int)content_type.len, content_type.ptr ? content_type.ptr : "");
		return SIMPLEPAGE_NOT_A_PAGE;
	}
	enum simplepage_fault fault = parse(m, body, e);
	return fault ? fault : simplepage_make_finish(m, out, e);
}

int simplepage_parse(struct str body, struct str content_type, const char *url, const char *project,
	struct simplepage *out, enum simplepage_fault *fault, struct err *e)
{
	CLEANUP(simplepage_make_release) struct simplepage_make m;
	simplepage_make_init(&m, project, str_from(url));
	*fault = parse_page(body, content_type, &m, out, e);
	return *fault ? -1 : 0;
}
