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
