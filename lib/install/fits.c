// SPDX-License-Identifier: Apache-2.0
#include "lib/install/fits.h"

#include <search.h>
#include <stdlib.h>

#include "lib/domain/text/specifier.h"
#include "lib/state/store/store.h"

enum { RANK_NOT_COMPUTED = -2, PYTHON_TEXT = 64 };

// Requires-Python asks only for these two numbers.
struct fits_minor {
	unsigned major, minor;
	struct specifier_minor *releases; // owned
	uint64_t *micros;                 // of each Requires-Python that was asked about
	size_t count, room;
};

struct fits_text {
	struct str text;
	size_t number;
};

// --- strings as numbers ---

static int compare_fits_texts(const void *a, const void *b)
{
	const struct fits_text *left = a, *right = b;
	return str_cmp(left->text, right->text);
}

static size_t number_of_text(struct fits_texts *t, struct str text)
{
	const struct fits_text key = {.text = text};
	const struct fits_text *const *found = tfind(&key, &t->tree, compare_fits_texts);
	if (found)
		return (*found)->number;
	struct fits_text *item = xmalloc(sizeof(*item));
	*item = (struct fits_text){{arena_copy(&t->text, text), text.len}, t->count};
	GROW(t->item, t->count, t->room);
	t->item[t->count++] = item;
	if (!tsearch(item, &t->tree, compare_fits_texts))
		abort(); // memory has run out
	return item->number;
}

static void fits_texts_release(struct fits_texts *t)
{
	tdestroy(t->tree, free);
	free(t->item);
	arena_release(&t->text);
	*t = (struct fits_texts){0};
}

// --- places ---

static size_t find_or_add_minor(struct fits *f, const struct python *p)
{
	for (size_t i = 0; i < f->minors; i++)
		if (f->minor[i].major == p->major && f->minor[i].minor == p->minor)
			return i;
	GROW(f->minor, f->minors, f->minor_room);
	f->minor[f->minors] = (struct fits_minor){p->major, p->minor, .releases = specifier_minor_new(p->major, p->minor)};
	return f->minors++;
}

size_t fits_add(struct fits *f, const struct platform *p, const struct machine *m, const struct environment *env)
{
	CLEANUP(buf_release) struct buf python = buf_up_to(PYTHON_TEXT);
	python_print(&env->python, &python);
	GROW(f->place, f->places, f->place_room);
	f->place[f->places] = (struct fits_place){.platform = p,
		.machine = m,
		.environment = env,
		.python = arena_copy(&f->text, buf_view(&python)),
		.minor = find_or_add_minor(f, &env->python)};
	return f->places++;
}

void fits_add_platform(struct fits *f, const struct platform *p)
{
	for (size_t i = 0; i < p->profile.environment_count; i++)
		fits_add(f, p, &p->profile.machine, &p->profile.environment[i]);
}

static void forget_numbers(struct fits *f)
{
	fits_texts_release(&f->tags);
	fits_texts_release(&f->pythons);
	for (size_t i = 0; i < f->places; i++)
		f->place[i].ranks = 0;
	for (size_t i = 0; i < f->minors; i++)
		f->minor[i].count = 0;
}

void fits_release(struct fits *f)
{
	forget_numbers(f);
	for (size_t i = 0; i < f->places; i++)
		free(f->place[i].rank);
	for (size_t i = 0; i < f->minors; i++) {
		specifier_minor_free(f->minor[i].releases);
		free(f->minor[i].micros);
	}
	free(f->place);
	free(f->minor);
	free(f->is_valid);
	arena_release(&f->text);
	*f = (struct fits){0};
}

void fits_trim(struct fits *f, size_t most)
{
	if (f->tags.count > most || f->pythons.count > most)
		forget_numbers(f);
}

// --- tags ---

unsigned fits_tags(struct fits *f, const struct filename *wheel)
{
	const char *end = wheel->platform.ptr + wheel->platform.len;
	return (unsigned)number_of_text(&f->tags, (struct str){wheel->python.ptr, (size_t)(end - wheel->python.ptr)});
}

struct filename fits_tag_set(const struct fits *f, unsigned number)
{
	struct str rest = f->tags.item[number]->text;
	struct filename wheel = {.kind = FILENAME_WHEEL, .python = str_cut(&rest, '-')};
	wheel.abi = str_cut(&rest, '-');
	wheel.platform = rest;
	return wheel;
}

long fits_rank(struct fits *f, unsigned tags, size_t place)
{
	struct fits_place *p = &f->place[place];
	struct err ignored = ERR_INIT;
	if (tags >= p->ranks) {
		size_t room = f->tags.count + f->tags.count / 2 + 64;
		p->rank = xreallocarray(p->rank, room, sizeof(*p->rank));
		while (p->ranks < room)
			p->rank[p->ranks++] = RANK_NOT_COMPUTED;
	}
	if (p->rank[tags] == RANK_NOT_COMPUTED) {
		const struct filename wheel = fits_tag_set(f, tags);
		long best;
		p->rank[tags] = environment_best(p->environment, &wheel, &best, &ignored) < 0 ? -1 : (int32_t)best;
	}
	return p->rank[tags];
}

// --- Requires-Python ---

unsigned fits_python(struct fits *f, const char *requires_python)
{
	if (!requires_python)
		return 0;
	size_t before = f->pythons.count, number = number_of_text(&f->pythons, str_from(requires_python));
	if (f->pythons.count > before) {
		GROW(f->is_valid, before, f->valid_room);
		f->is_valid[number] = specifier_set_is_valid(str_from(requires_python));
	}
	return (unsigned)number + 1;
}

const char *fits_python_text(const struct fits *f, unsigned number)
{
	return number ? f->pythons.item[number - 1]->text.ptr : NULL;
}

uint64_t fits_micros(struct fits *f, unsigned python, size_t place)
{
	struct fits_minor *m = &f->minor[f->place[place].minor];
	if (!python)
		return UINT64_MAX;
	while (m->count < python) {
		GROW(m->micros, m->count, m->room);
		m->micros[m->count] = UINT64_MAX;
		specifier_minor_micros(m->releases, f->pythons.item[m->count]->text, &m->micros[m->count]);
		m->count++;
	}
	return m->micros[python - 1];
}

uint64_t fits_micros_strictly(struct fits *f, unsigned python, size_t place)
{
	return !python || f->is_valid[python - 1] ? fits_micros(f, python, place) : 0;
}

void fits_print_micros(uint64_t micros, const struct python *p, struct buf *out)
{
	const char *between = "";
	for (unsigned first = 0, end; first < SPECIFIER_MICROS; first = end + 1) {
		end = first;
		if (!(micros >> first & 1))
			continue;
		while (end + 1 < SPECIFIER_MICROS && (micros >> (end + 1) & 1))
			end++;
		buf_printf(out, "%s%u.%u.%u", between, p->major, p->minor, first);
		if (end == SPECIFIER_MICROS - 1)
			buf_puts(out, " and later");
		else if (end > first)
			buf_printf(out, " to %u.%u.%u", p->major, p->minor, end);
		between = ", ";
	}
}
