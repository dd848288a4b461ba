// SPDX-License-Identifier: Apache-2.0
#include "server/request.h"

#include <string.h>

#include "lib/base/mem.h"

static const struct str header_names[HEADER_COUNT] = {
	[HEADER_ACCEPT] = STR("Accept"),
	[HEADER_ACCEPT_ENCODING] = STR("Accept-Encoding"),
	[HEADER_AUTHORIZATION] = STR("Authorization"),
	[HEADER_CONTENT_LENGTH] = STR("Content-Length"),
	[HEADER_CONTENT_TYPE] = STR("Content-Type"),
	[HEADER_HOST] = STR("Host"),
	[HEADER_IF_NONE_MATCH] = STR("If-None-Match"),
	[HEADER_IF_RANGE] = STR("If-Range"),
	[HEADER_RANGE] = STR("Range"),
	[HEADER_USER_AGENT] = STR("User-Agent"),
};

static const struct str argument_names[ARGUMENT_COUNT] = {
	[ARGUMENT_PLATFORM] = STR("platform"),
	[ARGUMENT_VERDICT] = STR("verdict"),
	[ARGUMENT_TEXT] = STR("q"),
	[ARGUMENT_PAGE] = STR("page"),
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

void request_take_header(struct request *r, struct str name, const char *value)
{
	for (int i = 0; i < HEADER_COUNT; i++)
		if (str_eq_nocase(header_names[i], name) && !r->header[i])
			r->header[i] = value;
}

void request_take_argument(struct request *r, struct str name, const char *value)
{
	if (str_eq(name, STR("format")) && !r->format)
		r->format = value ? value : "";
	for (int i = 0; i < ARGUMENT_COUNT; i++)
		if (str_eq(argument_names[i], name) && !r->argument[i])
			r->argument[i] = value ? value : "";
}
