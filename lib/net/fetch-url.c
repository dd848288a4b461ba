// SPDX-License-Identifier: Apache-2.0
// Operations on a parsed URL that do not need libcurl; fetch.c parses it.
#include <stdlib.h>
#include <string.h>

#include "lib/net/fetch.h"

void fetch_url_release(struct fetch_url *u)
{
	char **parts[] = {&u->text, &u->scheme, &u->host, &u->port, &u->user, &u->password};
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++) {
		free(*parts[i]);
		*parts[i] = NULL;
	}
}

bool fetch_url_same_origin(const struct fetch_url *a, const struct fetch_url *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->host, b->host) == 0 && strcmp(a->port, b->port) == 0;
}
