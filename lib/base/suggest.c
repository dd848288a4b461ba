// SPDX-License-Identifier: Apache-2.0
#include "lib/base/suggest.h"

#include <stdint.h>

#include "lib/base/limits.h"

enum {
	MAX_WORD = 40,    // bytes; a longer word is like none
	NAMES_MOST = 200, // bytes of a list of names
	HINT_MOST = 512,
};

static size_t smaller(size_t a, size_t b)
{
	return a < b ? a : b;
}

// One row of the table of distances (optimal string alignment), only near the diagonal. before is the row before, and
// earlier the one before that. Returns the least distance of the row.
static size_t fill_distances(struct str a, struct str b, size_t i, size_t most, const size_t *earlier,
	const size_t *before, size_t *row)
{
	size_t from = i > most ? i - most : 1, to = i + most < b.len ? i + most : b.len;
	size_t best = row[from - 1] = from > 1 ? most + 1 : i;
	for (size_t k = from; k <= to; k++) {
		size_t beside = k < i + most ? before[k] + 1 : most + 1;
		bool is_same = a.ptr[i - 1] == b.ptr[k - 1];
		row[k] = smaller(smaller(beside, row[k - 1] + 1), before[k - 1] + !is_same);
		if (i > 1 && k > 1 && a.ptr[i - 1] == b.ptr[k - 2] && a.ptr[i - 2] == b.ptr[k - 1])
			row[k] = smaller(row[k], earlier[k - 2] + 1);
		best = smaller(best, row[k]);
	}
	return best;
}

size_t suggest_distance(struct str a, struct str b, size_t most)
{
	size_t row[3][LIMIT_FILE_NAME + 2];
	if (a.len > LIMIT_FILE_NAME || b.len > LIMIT_FILE_NAME || a.len > b.len + most || b.len > a.len + most)
		return most + 1;
	for (size_t k = 0; k <= b.len; k++)
		row[0][k] = row[2][k] = k;
	for (size_t i = 1; i <= a.len; i++)
		if (fill_distances(a, b, i, most, row[(i + 1) % 3], row[(i - 1) % 3], row[i % 3]) > most)
			return most + 1;
	return smaller(row[a.len % 3][b.len], most + 1);
}

void suggest_init(struct suggest *n, struct str typed)
{
	*n = (struct suggest){.typed = typed, .distance = SIZE_MAX};
}

void suggest_add(struct suggest *n, const char *word)
{
	struct str other = str_from(word);
	size_t longer = n->typed.len > other.len ? n->typed.len : other.len;
	if (longer > MAX_WORD)
		return;
	size_t most = (longer + 1) / 3, distance = suggest_distance(n->typed, other, most);
	if (distance > most || distance >= n->distance)
		return;
	n->word = word;
	n->distance = distance;
}

// --- refusals ---

void name_choice_init(struct name_choice *c, struct str typed)
{
	*c = (struct name_choice){0};
	suggest_init(&c->suggest, typed);
	buf_init(&c->names, HINT_MOST);
}

void name_choice_release(struct name_choice *c)
{
	buf_release(&c->names);
}

void name_choice_add(struct name_choice *c, const char *name)
{
	suggest_add(&c->suggest, name);
	c->count++;
	if (c->named + 1 != c->count || c->names.len + str_from(name).len > NAMES_MOST)
		return;
	buf_printf(&c->names, "%s%s", c->named ? ", " : "", name);
	c->named++;
}

void name_choice_hint(const struct name_choice *c, struct buf *out)
{
	if (c->suggest.word)
		buf_printf(out, "; did you mean %s?", c->suggest.word);
	else if (c->named)
		buf_printf(out, "; there %s %s", c->count == 1 ? "is" : "are", c->names.data);
	if (!c->suggest.word && c->named && c->named < c->count)
		buf_printf(out, " and %zu more", c->count - c->named);
}

int name_choice_refuse(const struct name_choice *c, enum err_kind kind, const char *what, struct err *e)
{
	CLEANUP(buf_release) struct buf hint = buf_up_to(HINT_MOST);
	name_choice_hint(c, &hint);
	return err_set(e, kind, "%s " STR_FMT "%s", what, STR_ARG(c->suggest.typed), hint.len ? hint.data : "");
}
