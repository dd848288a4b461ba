// SPDX-License-Identifier: Apache-2.0
#include "lib/format/html.h"

#include <libxml/HTMLparser.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/library.h"

#define XML_FUNCTIONS(F) \
	F(htmlCtxtReadMemory) F(htmlFreeParserCtxt) F(htmlNewParserCtxt) F(xmlInitParser) F(xmlStopParser)
static struct {
	XML_FUNCTIONS(LIBRARY_POINTER)
} libxml;
static const char *const xml_names[] = {XML_FUNCTIONS(LIBRARY_NAME)};
static struct library xml_library = LIBRARY(XML_FILE, xml_names, libxml);

static void init_html(void)
{
	libxml.xmlInitParser();
}

struct html_reader {
	const struct html_handler *handler;
	void *ctx;
	htmlParserCtxt *parser;
	unsigned depth;
	bool too_deep;
};

static const char *as_text(const xmlChar *s)
{
	return (const char *)s;
}

static void on_element_begin(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	static const char *const none[] = {NULL};
	struct html_reader *r = ctx;
	if (++r->depth > LIMIT_HTML_DEPTH) {
		r->too_deep = true;
		libxml.xmlStopParser(r->parser);
	} else {
		r->handler->begin(r->ctx, as_text(name), attributes ? (const char *const *)attributes : none);
	}
}

static void on_element_end(void *ctx, const xmlChar *name)
{
	struct html_reader *r = ctx;
	r->depth -= r->depth > 0;
	r->handler->end(r->ctx, as_text(name));
}

static void on_characters(void *ctx, const xmlChar *text, int len)
{
	struct html_reader *r = ctx;
	r->handler->text(r->ctx, (struct str){as_text(text), (size_t)len});
}

static void on_comment_event(void *ctx, const xmlChar *text)
{
	struct html_reader *r = ctx;
	r->handler->comment(r->ctx, str_from(as_text(text)));
}

int html_read(struct str bytes, const struct html_handler *handler, void *ctx, struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	struct html_reader r = {.handler = handler, .ctx = ctx};
	if (!bytes.len || bytes.len > INT_MAX || str_find(bytes, '\0') >= 0 || !str_is_utf8(bytes))
		return err_set(e, ERR_INVALID, "not HTML in UTF-8");
	if (library_load(&xml_library, e) < 0)
		return -1;
	pthread_once(&once, init_html);
	const htmlSAXHandler events = {
		.startElement = on_element_begin,
		.endElement = on_element_end,
		.characters = on_characters,
		.ignorableWhitespace = on_characters,
		.comment = on_comment_event,
	};
	r.parser = libxml.htmlNewParserCtxt();
	if (!r.parser || !r.parser->sax)
		abort(); // out of memory
	*r.parser->sax = events;
	r.parser->userData = &r;
	libxml.htmlCtxtReadMemory(r.parser, bytes.ptr, (int)bytes.len, NULL, "UTF-8",
		HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
			HTML_PARSE_IGNORE_ENC);
	libxml.htmlFreeParserCtxt(r.parser);
	if (r.too_deep)
		return err_set(e, ERR_LIMIT, "HTML elements are nested deeper than %d", LIMIT_HTML_DEPTH);
	return 0;
}

const char *html_attribute(const char *const *attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1] ? attributes[1] : "";
	return NULL;
}
