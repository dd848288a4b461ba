// SPDX-License-Identifier: Apache-2.0
#include "server/core/missing-counts.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/mem.h"

struct missing_count {
	char *platform;
	uint64_t count;
	int64_t when;
};

struct missing_counts {
	pthread_mutex_t lock;
	struct missing_count *item; // one for each platform that was ever configured
	size_t items, room;
};

struct missing_counts *missing_counts_new(void)
{
	struct missing_counts *m = xcalloc(1, sizeof(*m));
	pthread_mutex_init(&m->lock, NULL);
	return m;
}

void missing_counts_free(struct missing_counts *m)
{
	if (!m)
		return;
	for (size_t i = 0; i < m->items; i++)
		free(m->item[i].platform);
	free(m->item);
	pthread_mutex_destroy(&m->lock);
	free(m);
}

static struct missing_count *find_count(struct missing_counts *m, const char *platform)
{
	for (size_t i = 0; i < m->items; i++)
		if (strcmp(m->item[i].platform, platform) == 0)
			return &m->item[i];
	return NULL;
}

void missing_counts_set(struct missing_counts *m, const char *platform, uint64_t count, int64_t when)
{
	pthread_mutex_lock(&m->lock);
	struct missing_count *known = find_count(m, platform);
	if (!known) {
		GROW(m->item, m->items, m->room);
		known = &m->item[m->items++];
		*known = (struct missing_count){.platform = xstrdup(platform)};
	}
	known->count = count;
	known->when = when;
	pthread_mutex_unlock(&m->lock);
}

bool missing_counts_get(struct missing_counts *m, const char *platform, uint64_t *count, int64_t *when)
{
	pthread_mutex_lock(&m->lock);
	const struct missing_count *known = find_count(m, platform);
	if (known) {
		*count = known->count;
		*when = known->when;
	}
	pthread_mutex_unlock(&m->lock);
	return known != NULL;
}
