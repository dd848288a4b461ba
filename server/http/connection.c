// SPDX-License-Identifier: Apache-2.0
#include "server/http/connection.h"

#include <microhttpd.h>
#include <stddef.h>

void client_wake(struct client *c)
{
	struct clients *clients = c->clients;
	MHD_resume_connection(c->connection); // from here on it may go away
	clients_wake(clients);
}

struct client *client_of_waiter(struct waiter *w)
{
	return (struct client *)(void *)((char *)w - offsetof(struct client, waiter));
}
