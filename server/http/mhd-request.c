// SPDX-License-Identifier: Apache-2.0
#include "server/http/mhd-request.h"

#include <microhttpd.h>
#include <string.h>

#include "server/http/mhd-workarounds.h"

static enum MHD_Result read_value(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
	const char *value, size_t value_len)
{
	(void)value_len;
	if (kind == MHD_GET_ARGUMENT_KIND)
		request_take_argument(ctx, (struct str){name, name_len}, value);
	else
		request_take_header(ctx, (struct str){name, name_len}, value);
	return MHD_YES;
}

struct request mhd_request_read(struct connection *c, const char *url, const char *method)
{
	struct request r = {.method = request_method(method), .path = url, .peer = c->client};
	MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND | MHD_GET_ARGUMENT_KIND, read_value, &r);
	if (!c->is_proxy)
		request_forget_forwarded(&r);
	return r;
}

void mhd_request_note_client(struct connection *c, const struct trusted_proxies *proxies)
{
	CLEANUP(request_release) struct request r = mhd_request_read(c, NULL, "GET");
	trusted_proxies_client(proxies, c->peer, r.header[HEADER_FORWARDED_FOR], c->client);
}

static enum MHD_Result check_header(void *ctx, enum MHD_ValueKind kind, const char *name, size_t name_len,
	const char *value, size_t value_len)
{
	(void)kind;
	request_check_header(ctx, (struct str){name, name_len}, (struct str){value, value_len});
	return MHD_YES;
}

// The address of the empty line.
static const char *end_of_header(struct connection *c, const char *begin)
{
	return begin - strlen("\r\n") +
	       MHD_get_connection_info(c->mhd, MHD_CONNECTION_INFO_REQUEST_HEADER_SIZE)->header_size;
}

struct request_check mhd_request_check(struct connection *c, const char *method, const char *version)
{
	struct request_check s = {.next = mhd_workarounds_is_lax(MHD_get_version()) ? method : NULL};
	request_check_piece(&s, str_from(method), strlen(" "));
	request_check_piece(&s, c->target, strlen(" "));
	request_check_piece(&s, str_from(version), strlen("\r\n"));
	MHD_get_connection_values_n(c->mhd, MHD_HEADER_KIND, check_header, &s);
	if (s.next)
		request_check_piece(&s, (struct str){end_of_header(c, method), 0}, 0);
	return s;
}
