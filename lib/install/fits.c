// SPDX-License-Identifier: Apache-2.0
#include "lib/install/fits.h"

#include <stdlib.h>

#include "lib/domain/text/specifier.h"

// Requires-Python asks only for these two numbers.
struct fits_minor {
	unsigned major, minor;
	struct specifier_minor *releases; // owned
};

enum { RANK_NOT_COMPUTED = -2 };

static size_t find_or_add_python(struct fits *f, const struct python *p)
{
	for (size_t i = 0; i < f->minors; i++)
		if (f->minor[i].major == p->major && f->minor[i].minor == p->minor)
			return i;
	f->minor[f->minors] = (struct fits_minor){p->major, p->minor, specifier_minor_new(p->major, p->minor)};
	return f->minors++;
}

void fits_init(struct fits *f, const struct environment *const *environment, size_t environments)
{
	*f = (struct fits){.environment = environment, .environments = environments};
	f->minor = xcalloc(environments + 1, sizeof(*f->minor));
	f->minor_of = xcalloc(environments + 1, sizeof(*f->minor_of));
	for (size_t i = 0; i < environments; i++)
		f->minor_of[i] = find_or_add_python(f, &environment[i]->python);
}

void fits_release(struct fits *f)
{
	intern_release(&f->tags);
	intern_release(&f->pythons);
	free(f->rank);
	for (size_t i = 0; i < f->minors; i++)
		specifier_minor_free(f->minor[i].releases);
	free(f->minor);
	free(f->minor_of);
	free(f->micros);
	*f = (struct fits){0};
}

void fits_trim(struct fits *f, size_t most)
{
	if (f->tags.count <= most && f->pythons.count <= most)
		return;
	const struct environment *const *environment = f->environment;
	size_t environments = f->environments;
	fits_release(f);
	fits_init(f, environment, environments);
}

// The room for a row of each number below count.
static size_t enlarged_room(size_t count, size_t room)
{
	return count <= room ? room : count + count / 2 + 64;
}

unsigned fits_tags(struct fits *f, const struct filename *wheel)
{
	const char *end = wheel->platform.ptr + wheel->platform.len;
	size_t number = intern_add(&f->tags, (struct str){wheel->python.ptr, (size_t)(end - wheel->python.ptr)});
	if (number < f->ranks)
		return (unsigned)number;
	size_t room = enlarged_room(number + 1, f->rank_room);
	if (room > f->rank_room)
		f->rank = xreallocarray(f->rank, room, (f->environments + 1) * sizeof(*f->rank));
	f->rank_room = room;
	for (size_t i = 0; i < f->environments; i++)
		f->rank[number * f->environments + i] = RANK_NOT_COMPUTED;
	f->ranks = number + 1;
	return (unsigned)number;
}

static uint64_t compute_micros(const char *text, const struct fits_minor *p)
{
	uint64_t mask = UINT64_MAX;
	if (!specifier_minor_micros(p->releases, str_from(text), &mask))
		return UINT64_MAX;
	return mask;
}

unsigned fits_python(struct fits *f, const char *requires_python)
{
	if (!requires_python)
		return 0;
	size_t before = f->pythons.count;
	size_t number = intern_add(&f->pythons, str_from(requires_python));
	if (f->pythons.count == before)
		return (unsigned)number + 1;
	size_t room = enlarged_room(f->pythons.count, f->micros_room);
	if (room > f->micros_room)
		f->micros = xreallocarray(f->micros, room, (f->minors + 1) * sizeof(*f->micros));
	f->micros_room = room;
	for (size_t i = 0; i < f->minors; i++)
		f->micros[number * f->minors + i] = compute_micros(requires_python, &f->minor[i]);
	return (unsigned)number + 1;
}

const char *fits_python_text(const struct fits *f, unsigned number)
{
	return number ? intern_text(&f->pythons, number - 1) : NULL;
}

const char *fits_tags_text(const struct fits *f, unsigned number)
{
	return intern_text(&f->tags, number);
}

static int32_t compute_rank(const struct fits *f, unsigned tags, size_t environment)
{
	struct err ignored = ERR_INIT;
	struct str rest = str_from(fits_tags_text(f, tags));
	struct filename wheel = {.kind = FILENAME_WHEEL};
	long best;
	wheel.python = str_cut(&rest, '-');
	wheel.abi = str_cut(&rest, '-');
	wheel.platform = rest;
	if (environment_best(f->environment[environment], &wheel, &best, &ignored) < 0)
		return -1;
	return (int32_t)best;
}

long fits_rank(struct fits *f, unsigned tags, size_t environment)
{
	int32_t *rank = &f->rank[(size_t)tags * f->environments + environment];
	if (*rank == RANK_NOT_COMPUTED)
		*rank = compute_rank(f, tags, environment);
	return *rank;
}

uint64_t fits_micros(const struct fits *f, unsigned python, size_t environment)
{
	if (!python)
		return UINT64_MAX;
	return f->micros[(size_t)(python - 1) * f->minors + f->minor_of[environment]];
}
