// SPDX-License-Identifier: Apache-2.0
#include "lib/format/markup.h"

#include <libxml/HTMLparser.h>
#include <libxml/parser.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/os/library.h"

#define XML_FUNCTIONS(F) \
	F(htmlCtxtReadMemory) F(htmlFreeParserCtxt) F(htmlNewParserCtxt) F(xmlCtxtGetLastError) F(xmlCtxtReadMemory) \
	F(xmlDictSetLimit) F(xmlDictSize) F(xmlFreeParserCtxt) F(xmlInitParser) F(xmlNewParserCtxt) \
	F(xmlSAX2GetLineNumber) F(xmlStopParser)
static struct {
	XML_FUNCTIONS(LIBRARY_POINTER)
} libxml;
static const char *const xml_names[] = {XML_FUNCTIONS(LIBRARY_NAME)};
static struct library xml_library = LIBRARY(XML_FILE, xml_names, libxml);

static void init_parser(void)
{
	libxml.xmlInitParser();
}

static int load_libxml(struct err *e)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	if (library_load(&xml_library, e) < 0)
		return -1;
	pthread_once(&once, init_parser);
	return 0;
}

struct markup_reader {
	const struct markup_handler *handler;
	void *ctx;
	xmlParserCtxt *parser;
	unsigned depth;
	bool is_stopped;
	struct err *e;
};

static const char *const no_attributes[] = {NULL};

static void on_begin(struct markup_reader *r, const xmlChar *name, const xmlChar **attributes)
{
	r->handler->begin(r->ctx, (const char *)name, attributes ? (const char *const *)attributes : no_attributes);
}

static void on_text(void *ctx, const xmlChar *text, int len)
{
	struct markup_reader *r = ctx;
	if (!r->is_stopped && r->handler->text)
		r->handler->text(r->ctx, (struct str){(const char *)text, (size_t)len});
}

// --- XML ---

// Sets the error of the reader, and ends the reading. Later events are ignored.
static void stop(struct markup_reader *r, enum err_kind kind, const char *reason)
{
	if (r->is_stopped)
		return;
	r->is_stopped = true;
	err_set(r->e, kind, "line %d: %s", libxml.xmlSAX2GetLineNumber(r->parser), reason);
	libxml.xmlStopParser(r->parser);
}

static void on_doctype(void *ctx, const xmlChar *name, const xmlChar *public_id, const xmlChar *system_id)
{
	(void)name, (void)public_id, (void)system_id;
	stop(ctx, ERR_INVALID, "a document type (<!DOCTYPE>) is not accepted");
}

// The dictionary has each name once.
static bool has_too_many_names(const struct markup_reader *r)
{
	return libxml.xmlDictSize(r->parser->dict) > LIMIT_XML_NAMES;
}

// Reading the document resets the limit of the dictionary, so it is set when the reading has begun. It also ends an
// element of too many attributes, before they are all compared with each other.
static void on_document(void *ctx)
{
	struct markup_reader *r = ctx;
	libxml.xmlDictSetLimit(r->parser->dict, LIMIT_XML_NAMES_TEXT);
}

static void on_instruction(void *ctx, const xmlChar *target, const xmlChar *data)
{
	struct markup_reader *r = ctx;
	(void)target, (void)data;
	if (has_too_many_names(r))
		stop(r, ERR_LIMIT, "too many different names");
}

static bool has_too_many_attributes(const xmlChar **attributes)
{
	size_t count = 0;
	while (attributes && attributes[count])
		count += 2;
	return count > 2 * (size_t)LIMIT_XML_ATTRIBUTES;
}

static void on_xml_begin(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	struct markup_reader *r = ctx;
	if (r->is_stopped)
		return;
	if (++r->depth > LIMIT_XML_DEPTH)
		stop(r, ERR_LIMIT, "elements are nested too deep");
	else if (has_too_many_attributes(attributes))
		stop(r, ERR_LIMIT, "an element has too many attributes");
	else if (has_too_many_names(r))
		stop(r, ERR_LIMIT, "too many different names");
	else
		on_begin(r, name, attributes);
}

static void on_xml_end(void *ctx, const xmlChar *name)
{
	struct markup_reader *r = ctx;
	if (r->is_stopped)
		return;
	r->depth--;
	r->handler->end(r->ctx, (const char *)name);
}

// What libxml2 says of the mistake, without its line break.
static void stop_at_mistake(struct markup_reader *r)
{
	const xmlError *mistake = libxml.xmlCtxtGetLastError(r->parser);
	struct str reason = str_trim(str_from(mistake && mistake->message ? mistake->message : "not well-formed"));
	char text[128];
	reason = str_head(reason, sizeof(text) - 1);
	memcpy(text, reason.ptr, reason.len);
	text[reason.len] = '\0';
	// A dictionary at its limit fails as if there were no memory.
	bool is_full = mistake && mistake->code == XML_ERR_NO_MEMORY;
	stop(r, is_full || has_too_many_names(r) ? ERR_LIMIT : ERR_INVALID,
		has_too_many_names(r) ? "too many different names" : is_full ? "different names are too long together" : text);
}

// libxml2 reads on behind a mistake, to find more of them.
static void on_mistake(void *ctx, const char *format UNUSED, ...)
{
	struct markup_reader *r = ctx;
	const xmlError *mistake = libxml.xmlCtxtGetLastError(r->parser);
	if (mistake && mistake->level == XML_ERR_FATAL)
		stop_at_mistake(r);
}

// For libxml2 a NUL is the end of the document, whatever follows. UTF-16 and UTF-32 show in the first bytes.
static bool has_stray_nul(struct str bytes)
{
	struct str first = str_slice(bytes, 0, bytes.len < 4 ? bytes.len : 4);
	bool is_wide = str_find(first, '\0') >= 0 || str_starts(first, STR("\xff\xfe")) || str_starts(first, STR("\xfe\xff"));
	return !is_wide && str_find(bytes, '\0') >= 0;
}

static void free_parser(xmlParserCtxt **parser)
{
	libxml.xmlFreeParserCtxt(*parser);
}

int markup_read_xml(struct str bytes, const struct markup_handler *handler, void *ctx, struct err *e)
{
	const xmlSAXHandler events = {
		.startDocument = on_document,
		.processingInstruction = on_instruction,
		.error = on_mistake,
		.startElement = on_xml_begin,
		.endElement = on_xml_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.cdataBlock = on_text,
		.internalSubset = on_doctype,
	};
	if (!bytes.len || bytes.len > INT_MAX)
		return err_set(e, ERR_INVALID, bytes.len ? "not XML: too long" : "empty");
	if (has_stray_nul(bytes))
		return err_set(e, ERR_INVALID, "not XML: it has a NUL");
	if (load_libxml(e) < 0)
		return -1;
	CLEANUP(free_parser) xmlParserCtxt *parser = libxml.xmlNewParserCtxt();
	if (!parser || !parser->sax)
		abort(); // out of memory
	struct markup_reader r = {.handler = handler, .ctx = ctx, .parser = parser, .e = e};
	*parser->sax = events;
	parser->userData = &r;
	// SAX1: attributes are strings that end with NUL. NOENT: "&amp;" in them is "&", and not "&#38;"; a document
	// that declares entities is rejected before it does. HUGE: limits are the caller's; without a DTD nothing
	// grows.
	libxml.xmlCtxtReadMemory(parser, bytes.ptr, (int)bytes.len, NULL, NULL,
		XML_PARSE_SAX1 | XML_PARSE_NOENT | XML_PARSE_NONET | XML_PARSE_HUGE | XML_PARSE_NOWARNING);
	if (!r.is_stopped && !parser->wellFormed)
		stop_at_mistake(&r);
	return r.is_stopped ? -1 : 0;
}

// --- HTML ---

static void on_html_begin(void *ctx, const xmlChar *name, const xmlChar **attributes)
{
	struct markup_reader *r = ctx;
	if (++r->depth <= LIMIT_HTML_DEPTH) {
		on_begin(r, name, attributes);
	} else if (!r->is_stopped) {
		r->is_stopped = true;
		err_set(r->e, ERR_LIMIT, "HTML elements are nested deeper than %d", LIMIT_HTML_DEPTH);
		libxml.xmlStopParser(r->parser);
	}
}

static void on_html_end(void *ctx, const xmlChar *name)
{
	struct markup_reader *r = ctx;
	r->depth -= r->depth > 0;
	if (!r->is_stopped)
		r->handler->end(r->ctx, (const char *)name);
}

static void on_html_comment(void *ctx, const xmlChar *text)
{
	struct markup_reader *r = ctx;
	if (!r->is_stopped && r->handler->comment)
		r->handler->comment(r->ctx, str_from((const char *)text));
}

int markup_read_html(struct str bytes, const struct markup_handler *handler, void *ctx, struct err *e)
{
	const htmlSAXHandler events = {
		.startElement = on_html_begin,
		.endElement = on_html_end,
		.characters = on_text,
		.ignorableWhitespace = on_text,
		.comment = on_html_comment,
	};
	if (!bytes.len || bytes.len > INT_MAX || str_find(bytes, '\0') >= 0 || !str_is_utf8(bytes))
		return err_set(e, ERR_INVALID, "not HTML in UTF-8");
	if (load_libxml(e) < 0)
		return -1;
	struct markup_reader r = {.handler = handler, .ctx = ctx, .parser = libxml.htmlNewParserCtxt(), .e = e};
	if (!r.parser || !r.parser->sax)
		abort(); // out of memory
	*r.parser->sax = events;
	r.parser->userData = &r;
	libxml.htmlCtxtReadMemory(r.parser, bytes.ptr, (int)bytes.len, NULL, "UTF-8",
		HTML_PARSE_RECOVER | HTML_PARSE_NOERROR | HTML_PARSE_NOWARNING | HTML_PARSE_NONET |
			HTML_PARSE_IGNORE_ENC);
	libxml.htmlFreeParserCtxt(r.parser);
	return r.is_stopped ? -1 : 0;
}

const char *markup_attribute(const char *const *attributes, const char *name)
{
	for (; attributes[0]; attributes += 2)
		if (strcmp(attributes[0], name) == 0)
			return attributes[1] ? attributes[1] : "";
	return NULL;
}
