// SPDX-License-Identifier: Apache-2.0
#include "lib/state/upstream/mirror-pins.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "lib/base/log.h"
#include "lib/base/mem.h"
#include "lib/base/strset.h"
#include "lib/os/clock.h"
#include "lib/state/upstream/mirror.h"

enum { LOOK_MS = 1000 }; // so often pages look at the records

struct pinned {
	uint8_t (*sha256)[SHA256_SIZE]; // sorted
	size_t files, room;
	struct strset projects;
};

struct mirror_pins {
	char *folder;
	pthread_mutex_t look_lock; // of a look, and of mark
	uint64_t mark;
	pthread_mutex_t lock; // of what follows
	struct pinned now;
	bool is_known; // the last look has read the records
	bool has_told; // that it could not
	int64_t looked_ms;
};

static void pinned_release(struct pinned *p)
{
	free(p->sha256);
	strset_release(&p->projects);
}

static int compare_pins(const void *a, const void *b)
{
	return memcmp(a, b, SHA256_SIZE);
}

static int take_mirror(void *ctx, const struct mirror *m, struct err *e UNUSED)
{
	struct pinned *p = ctx;
	const char *last = "";
	for (size_t i = 0; i < m->files; i++) {
		GROW(p->sha256, p->files, p->room);
		memcpy(p->sha256[p->files++], m->file[i].sha256, SHA256_SIZE);
		if (strcmp(m->file[i].project, last) != 0)
			strset_add(&p->projects, m->file[i].project);
		last = m->file[i].project;
	}
	return 0;
}

static bool is_looked_at(struct mirror_pins *p, uint64_t mark)
{
	pthread_mutex_lock(&p->lock);
	p->looked_ms = clock_ms();
	bool is_same = p->is_known && p->mark == mark;
	pthread_mutex_unlock(&p->lock);
	return is_same;
}

// With the look's lock held. The mark is read first: what changes meanwhile is read again at the next look.
static void look(struct mirror_pins *p)
{
	uint64_t mark = 0;
	struct err e = ERR_INIT;
	CLEANUP(pinned_release) struct pinned found = {0};
	int result = mirror_mark(p->folder, &mark, &e);
	if (result == 0 && is_looked_at(p, mark))
		return;
	result = result < 0 ? result : mirror_each(p->folder, take_mirror, &found, &e);
	if (found.files)
		qsort(found.sha256, found.files, sizeof(*found.sha256), compare_pins);
	strset_sort(&found.projects);
	pthread_mutex_lock(&p->lock);
	bool tells = result < 0 && !p->has_told;
	p->has_told = result < 0;
	p->is_known = result == 0;
	p->looked_ms = clock_ms();
	if (result == 0) {
		struct pinned before = p->now;
		p->now = found;
		found = before;
		p->mark = mark;
	}
	pthread_mutex_unlock(&p->lock);
	if (tells)
		log_error("what mirrors pin is not known, so no file of upstream is removed: %s", e.msg);
}

struct mirror_pins *mirror_pins_new(const char *folder)
{
	struct mirror_pins *p = xcalloc(1, sizeof(*p));
	p->folder = xstrdup(folder);
	pthread_mutex_init(&p->look_lock, NULL);
	pthread_mutex_init(&p->lock, NULL);
	mirror_pins_look(p);
	return p;
}

void mirror_pins_free(struct mirror_pins *p)
{
	if (!p)
		return;
	pinned_release(&p->now);
	pthread_mutex_destroy(&p->look_lock);
	pthread_mutex_destroy(&p->lock);
	free(p->folder);
	free(p);
}

void mirror_pins_look(struct mirror_pins *p)
{
	pthread_mutex_lock(&p->look_lock);
	look(p);
	pthread_mutex_unlock(&p->look_lock);
}

// The other threads use what is known, while one reads.
static void look_sometimes(struct mirror_pins *p)
{
	pthread_mutex_lock(&p->lock);
	bool is_due = clock_ms() - p->looked_ms >= LOOK_MS;
	pthread_mutex_unlock(&p->lock);
	if (!is_due || pthread_mutex_trylock(&p->look_lock) != 0)
		return;
	look(p);
	pthread_mutex_unlock(&p->look_lock);
}

bool mirror_pins_are_known(struct mirror_pins *p)
{
	pthread_mutex_lock(&p->lock);
	bool are_known = p->is_known;
	pthread_mutex_unlock(&p->lock);
	return are_known;
}

static bool has_pin(struct mirror_pins *p, const uint8_t *sha256, bool doubt)
{
	if (!p || !sha256)
		return false;
	pthread_mutex_lock(&p->lock);
	bool has = (p->now.files && bsearch(sha256, p->now.sha256, p->now.files, SHA256_SIZE, compare_pins)) ||
		   (doubt && !p->is_known);
	pthread_mutex_unlock(&p->lock);
	return has;
}

bool mirror_pins_may_have(struct mirror_pins *p, const uint8_t *sha256)
{
	return has_pin(p, sha256, true);
}

bool mirror_pins_has(struct mirror_pins *p, const uint8_t *sha256)
{
	return has_pin(p, sha256, false);
}

bool mirror_pins_has_project(struct mirror_pins *p, const char *project)
{
	if (!p)
		return false;
	look_sometimes(p);
	pthread_mutex_lock(&p->lock);
	bool has = strset_has(&p->now.projects, project);
	pthread_mutex_unlock(&p->lock);
	return has;
}

// Names of projects in normal form need no escape.
void mirror_pins_projects(struct mirror_pins *p, struct buf *out)
{
	buf_putc(out, '[');
	if (p) {
		mirror_pins_look(p);
		pthread_mutex_lock(&p->lock);
		for (size_t i = 0; i < p->now.projects.count; i++)
			buf_printf(out, "%s\"%s\"", i ? "," : "", p->now.projects.item[i]);
		pthread_mutex_unlock(&p->lock);
	}
	buf_putc(out, ']');
}
