// SPDX-License-Identifier: Apache-2.0
#include "server/pages/plan-choice.h"

#include <inttypes.h>
#include <string.h>

#include "lib/base/decimal.h"
#include "lib/format/escape.h"

bool plan_choice_has(const struct plan_choice *x, int64_t id)
{
	for (size_t i = 0; i < x->count; i++)
		if (x->id[i] == id)
			return true;
	return false;
}

static void add_number(struct plan_choice *x, int64_t id)
{
	if (plan_choice_has(x, id))
		return;
	if (x->count == LIMIT_PLAN_CHOSEN)
		x->has_more = true;
	else
		x->id[x->count++] = id;
}

void plan_choice_read(struct plan_choice *x, const char *text)
{
	struct str rest = str_from(text);
	while (rest.len) {
		uint64_t id = 0;
		struct str before = rest;
		if (decimal_cut(&rest, INT64_MAX, &id) && id)
			add_number(x, (int64_t)id);
		if (rest.len == before.len)
			rest = str_slice(rest, 1, rest.len);
	}
}

static bool is_of_rows(const struct plan_rows *rows, int64_t id)
{
	for (size_t i = 0; rows && i < rows->count; i++)
		if (rows->row[i].file.id == id)
			return true;
	return false;
}

void plan_choice_write(const struct plan_choice *x, const struct plan_rows *rows, struct buf *out)
{
	const char *between = "";
	for (size_t i = 0; i < x->count; i++) {
		if (is_of_rows(rows, x->id[i]))
			continue;
		buf_printf(out, "%s%" PRId64, between, x->id[i]);
		between = "-";
	}
}

static bool is_plain_word(const char *word)
{
	for (const char *p = word; *p; p++)
		if (!ascii_is_alnum(*p) && !strchr("._+-/:=,%", *p))
			return false;
	return *word && *word != '-';
}

void plan_choice_shell_word(struct buf *out, const char *word)
{
	if (is_plain_word(word)) {
		buf_puts(out, word);
		return;
	}
	buf_putc(out, '\'');
	for (const char *p = word; *p; p++) {
		if (*p == '\'')
			buf_puts(out, "'\\''");
		else
			buf_putc(out, (unsigned char)*p < ' ' || *p == 0x7f ? '?' : *p);
	}
	buf_putc(out, '\'');
}

static void put_shell_html(struct buf *out, const char *word)
{
	CLEANUP(buf_release) struct buf quoted;
	buf_init(&quoted, 4 * strlen(word) + 8);
	plan_choice_shell_word(&quoted, word);
	escape_html(out, buf_view(&quoted));
}

void plan_choice_command(struct buf *out, const struct plan_rows *chosen, const char *file)
{
	buf_puts(out, "wheelcache prune apply --config /etc/wheelcache/wheelcache.conf");
	for (size_t i = 0; i < chosen->count; i++) {
		const struct plan_row *row = &chosen->row[i];
		CLEANUP(mem_free) char *word = xasprintf("%s/%s", row->platform->name, row->file.path);
		buf_puts(out, " \\\n    --except ");
		put_shell_html(out, word);
	}
	buf_puts(out, chosen->count ? " \\\n    " : " ");
	put_shell_html(out, file ? file : "plan.json");
}
