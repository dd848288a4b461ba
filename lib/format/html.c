// SPDX-License-Identifier: Apache-2.0
#include "lib/format/html.h"

#include <libxml/HTMLparser.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

struct reading {
	const struct html_handler *handler;
	void *ctx;
	htmlParserCtxt *parser;
	unsigned depth;
	bool too_deep;
};

static const char *ours(const xmlChar *s)
{
	return (const char *)s;
}

static void on_begin(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	static const char *const none[] = {NULL};
	struct reading *r = ctx;
	if (++r->depth > LIMIT_HTML_DEPTH) {
		r->too_deep = true;
		xmlStopParser(r->parser);
	} else {
		r->handler->begin(r->ctx, ours(name), attributes ? (const char *const *)attributes : none);
	}
}

static void on_end(void *ctx, const xmlChar *name)
{
	struct reading *r = ctx;
	r->depth -= r->depth > 0;
	r->handler->end(r->ctx, ours(name));
}

static void on_text(void *ctx, const xmlChar *text, int len)
{
	struct reading *r = ctx;
	r->handler->text(r->ctx, (struct str){ours(text), (size_t)len});
}

static void on_comment(void *ctx, const xmlChar *text)
{
	struct reading *r = ctx;
	r->handler->comment(r->ctx, str_from(ours(text)));
}

static void parse(struct reading *r, struct str bytes)
{
	const htmlSAXHandler events = {
		.startElement = on_begin,
		.endElement = on_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.comment = on_comment,
	};
	r->parser = htmlNewParserCtxt();
	if (!r->parser || !r->parser->sax)
		abort(); // out of memory
	*r->parser->sax = events;
	r->parser->userData = r;
	htmlCtxtReadMemory(r->parser, bytes.ptr, (int)bytes.len, NULL, "UTF-8",
		HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
			HTML_PARSE_IGNORE_ENC);
	htmlFreeParserCtxt(r->parser);
}

int html_read(struct str bytes, const struct html_handler *handler, void *ctx, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct reading r = {.handler = handler, .ctx = ctx};
	if (!bytes.len || bytes.len > INT_MAX || str_find(bytes, '\0') >= 0 || !str_is_utf8(bytes))
		return err_set(e, ERR_INVALID, "no HTML in UTF-8");
	pthread_once(&once, xmlInitParser);
	parse(&r, bytes);
	if (r.too_deep)
		return err_set(e, ERR_LIMIT, "HTML of elements in each other, deeper than %d", LIMIT_HTML_DEPTH);
	return 0;
}

const char *html_attribute(const char *const *attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1] ? attributes[1] : "";
	return NULL;
}
