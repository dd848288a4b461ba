// SPDX-License-Identifier: Apache-2.0
#include "lib/base/name-choice.h"

#include "lib/base/mem.h"

enum {
	NAMES_MOST = 200, // bytes of a list of names
	HINT_MOST = 512,
};

void name_choice_init(struct name_choice *c, struct str typed)
{
	*c = (struct name_choice){0};
	nearest_init(&c->nearest, typed);
	buf_init(&c->names, HINT_MOST);
}

void name_choice_release(struct name_choice *c)
{
	buf_release(&c->names);
}

void name_choice_offer(struct name_choice *c, const char *name)
{
	nearest_offer(&c->nearest, name);
	c->count++;
	if (c->named + 1 != c->count || c->names.len + str_from(name).len > NAMES_MOST)
		return;
	buf_printf(&c->names, "%s%s", c->named ? ", " : "", name);
	c->named++;
}

void name_choice_hint(const struct name_choice *c, struct buf *out)
{
	if (c->nearest.word)
		buf_printf(out, "; did you mean %s?", c->nearest.word);
	else if (c->named)
		buf_printf(out, "; there %s %s", c->count == 1 ? "is" : "are", c->names.data);
	if (!c->nearest.word && c->named && c->named < c->count)
		buf_printf(out, " and %zu more", c->count - c->named);
}

int name_choice_refuse(const struct name_choice *c, enum err_kind kind, const char *what, struct err *e)
{
	CLEANUP(buf_release) struct buf hint;
	buf_init(&hint, HINT_MOST);
	name_choice_hint(c, &hint);
	return err_set(e, kind, "%s " STR_FMT "%s", what, STR_ARG(c->nearest.typed), hint.len ? hint.data : "");
}
