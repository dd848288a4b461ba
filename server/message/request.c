// SPDX-License-Identifier: Apache-2.0
#include "server/message/request.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "server/message/urlpath.h"

static const struct {
	struct str name;
	bool is_list;
} headers[HEADER_COUNT] = {
	[HEADER_ACCEPT] = {STR("Accept"), true},
	[HEADER_ACCEPT_ENCODING] = {STR("Accept-Encoding"), true},
	[HEADER_AUTHORIZATION] = {STR("Authorization"), false},
	[HEADER_CONTENT_LENGTH] = {STR("Content-Length"), false},
	[HEADER_CONTENT_TYPE] = {STR("Content-Type"), false},
	[HEADER_HOST] = {STR("Host"), false},
	[HEADER_IF_NONE_MATCH] = {STR("If-None-Match"), true},
	[HEADER_IF_RANGE] = {STR("If-Range"), false},
	[HEADER_ORIGIN] = {STR("Origin"), false},
	[HEADER_RANGE] = {STR("Range"), false},
	[HEADER_USER_AGENT] = {STR("User-Agent"), false},
	[HEADER_FORWARDED_FOR] = {STR("X-Forwarded-For"), true},
	[HEADER_FORWARDED_PREFIX] = {STR("X-Forwarded-Prefix"), false},
	[HEADER_FORWARDED_PROTO] = {STR("X-Forwarded-Proto"), false},
};

static const struct str argument_names[ARGUMENT_COUNT] = {
	[ARGUMENT_PLATFORM] = STR("platform"),
	[ARGUMENT_VERDICT] = STR("verdict"),
	[ARGUMENT_TEXT] = STR("q"),
	[ARGUMENT_PAGE] = STR("page"),
	[ARGUMENT_PROJECT] = STR("project"),
	[ARGUMENT_RESULT] = STR("result"),
	[ARGUMENT_LIMIT] = STR("limit"),
	[ARGUMENT_PYTHON] = STR("python"),
	[ARGUMENT_ALL] = STR("all"),
	[ARGUMENT_PLAN] = STR("plan"),
	[ARGUMENT_UPSTREAM] = STR("upstream"),
	[ARGUMENT_BY] = STR("by"),
	[ARGUMENT_SINCE] = STR("since"),
	[ARGUMENT_SIGN_IN] = STR("sign-in"),
	[ARGUMENT_CHOSEN] = STR("x"),
	[ARGUMENT_VIEW] = STR("view"),
	[ARGUMENT_VERSION] = STR("version"),
	[ARGUMENT_PLATFORMS] = STR("platforms"),
	[ARGUMENT_PROJECTS] = STR("projects"),
	[ARGUMENT_STATE] = STR("state"),
	[ARGUMENT_AFTER] = STR("after"),
};

enum method request_method(const char *name)
{
	static const struct {
		const char *name;
		enum method method;
	} methods[] = {{"GET", METHOD_GET}, {"HEAD", METHOD_HEAD}, {"POST", METHOD_POST}};
	for (size_t i = 0; i < ARRAY_SIZE(methods); i++)
		if (strcmp(name, methods[i].name) == 0)
			return methods[i].method;
	return METHOD_OTHER;
}

void request_release(struct request *r)
{
	for (int i = 0; r->joined && i < HEADER_COUNT; i++)
		buf_release(&r->joined[i]);
	free(r->joined);
	r->joined = NULL;
	if (r->chosen)
		buf_release(r->chosen);
	free(r->chosen);
	r->chosen = NULL;
}

static void join_header(struct request *r, int header, const char *value)
{
	if (!r->joined)
		r->joined = xcalloc(HEADER_COUNT, sizeof(*r->joined));
	struct buf *list = &r->joined[header];
	if (!list->cap) {
		buf_init(list, LIMIT_REQUEST_HEADER);
		buf_puts(list, r->header[header]);
	}
	buf_puts(list, ", ");
	buf_puts(list, value);
	r->header[header] = list->data;
}

void request_take_header(struct request *r, struct str name, const char *value)
{
	for (int i = 0; i < HEADER_COUNT; i++) {
		if (!str_eq_nocase(headers[i].name, name))
			continue;
		if (!r->header[i])
			r->header[i] = value;
		else if (headers[i].is_list && value)
			join_header(r, i, value);
	}
}

void request_forget_forwarded(struct request *r)
{
	for (int i = HEADER_FORWARDED_FOR; i <= HEADER_FORWARDED_PROTO; i++)
		r->header[i] = NULL;
}

uint64_t request_content_length(const struct request *r)
{
	uint64_t length = 0;
	struct str digits = str_from(r->header[HEADER_CONTENT_LENGTH] ? r->header[HEADER_CONTENT_LENGTH] : "");
	decimal_cut(&digits, UINT64_MAX, &length);
	return length;
}

static void join_chosen(struct request *r, const char *value)
{
	if (!r->chosen) {
		r->chosen = xcalloc(1, sizeof(*r->chosen));
		buf_init(r->chosen, LIMIT_REQUEST_HEADER);
		buf_puts(r->chosen, r->argument[ARGUMENT_CHOSEN]);
	}
	buf_putc(r->chosen, ',');
	buf_puts(r->chosen, value);
	r->argument[ARGUMENT_CHOSEN] = r->chosen->data;
}

void request_take_argument(struct request *r, struct str name, const char *value)
{
	if (str_eq(name, STR("format")) && !r->format)
		r->format = value ? value : "";
	for (int i = 0; i < ARGUMENT_COUNT; i++)
		if (str_eq(argument_names[i], name) && !r->argument[i])
			r->argument[i] = value ? value : "";
		else if (i == ARGUMENT_CHOSEN && str_eq(argument_names[i], name) && value)
			join_chosen(r, value);
}

bool request_read_argument(const struct request *r, enum request_argument which, char out[REQUEST_ARGUMENT_SIZE])
{
	CLEANUP(mem_free) char *raw = xstrdup(r->argument[which] ? r->argument[which] : "");
	for (char *at = raw; *at; at++)
		*at = *at == '+' ? ' ' : *at;
	out[0] = '\0';
	return strlen(raw) < REQUEST_ARGUMENT_SIZE && urlpath_decode(str_from(raw), out, REQUEST_ARGUMENT_SIZE);
}
