// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection.h"

#include <microhttpd.h>
#include <stddef.h>

void connection_resume(struct connection *c)
{
	struct connections *connections = c->connections;
	MHD_resume_connection(c->mhd); // may free c
	connections_note_resumed(connections);
}

struct connection *connection_of_continuation(struct continuation *w)
{
	return (struct connection *)(void *)((char *)w - offsetof(struct connection, continuation));
}

void connection_refuse(struct connection *c, const char *why)
{
	if (c->body)
		request_body_refuse(c->body, reply_busy(why));
	else
		c->reply = reply_busy(why);
	connection_resume(c);
}

void connection_log(struct connection *c, FILE *access_log)
{
	accesslog_write(access_log,
		&(struct accesslog_entry){
			.peer = c->client,
			.method = c->line.method,
			.uri = c->line.uri.data,
			.version = c->line.version,
			.user_agent = MHD_lookup_connection_value(c->mhd, MHD_HEADER_KIND, "User-Agent"),
			.status = c->reply->status,
			.bytes = c->reply->length,
		});
}
