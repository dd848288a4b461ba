// SPDX-License-Identifier: Apache-2.0
// Prints the table of routes for test-manual.py: a route a line, its fields separated by tabs.
#include <stdio.h>

#include "server/api/routes.h"

int main(void)
{
	for (size_t i = 0; i < route_table_count; i++) {
		const struct route *r = &route_table[i];
		printf("%s\t%s\t%s\t%s\t%s\t%s\n", r->method == METHOD_POST ? "POST" : "GET", r->path,
			route_pool_name[r->pool], metric_route_name[r->metric], route_right_name[r->right], r->about);
	}
	return 0;
}
