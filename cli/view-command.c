// SPDX-License-Identifier: Apache-2.0
#include "cli/view-command.h"

#include <inttypes.h>

#include "lib/base/decimal.h"
#include "lib/format/escape.h"
#include "lib/os/clock.h"

static int take_view_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct view_command *x = ctx;
	const struct command_text texts[] = {
		{"to", &x->to}, {"at", &x->at}, {"steps", &x->steps}, {"most", &x->most}, {"reason", &x->reason}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0 : err_set(e, ERR_USAGE, "--%s", name);
}

int view_command_open(struct view_command *x, const struct command *self, int argc, char **argv, int words, bool writes,
	struct err *e)
{
	promotion_common_init(&x->all);
	int first = cli_config_options(&x->all.settings, self, argc, argv, take_view_option, x, e);
	if (first < 0)
		return -1;
	if (argc - first != 1 + words)
		return err_set(e, ERR_USAGE, "expected %s", words ? "VIEW and two generations" : "one VIEW");
	x->name = argv[first];
	x->word = argv + first + 1;
	if (promotion_common_open(&x->all, writes && !x->all.settings.is_dry_run, e) < 0)
		return -1;
	return promotion_common_check_view(&x->all, x->name, e);
}

void view_command_release(struct view_command *x)
{
	promotion_common_release(&x->all);
}

int view_command_newest(const struct view_command *x, int64_t *out, struct err *e)
{
	struct catalog_view known;
	if (catalog_view_find(x->all.catalog, x->name, &known, e) < 0)
		return -1;
	*out = known.generation;
	return 0;
}

int view_command_generation(const struct view_command *x, const char *what, const char *text, int64_t *out,
	struct err *e)
{
	int64_t when;
	uint64_t number;
	if (decimal_parse(str_from(text), INT64_MAX, &number)) {
		*out = (int64_t)number;
		return 0;
	}
	if (clock_read_end(text, &when))
		return catalog_view_at(x->all.catalog, x->name, when, out, e);
	return err_set(e, ERR_USAGE,
		"%s%s: neither the number of a generation nor a time as 2026-11-20 or 2026-11-20T06:00:00Z", what, text);
}

int view_command_check_generation(const struct view_command *x, int64_t generation, struct err *e)
{
	int64_t newest;
	if (view_command_newest(x, &newest, e) < 0)
		return -1;
	if (generation <= newest)
		return 0;
	return err_set(e, ERR_USAGE, "view %s has no generation %" PRId64 ": the newest is %" PRId64, x->name, generation,
		newest);
}

void view_command_put_file(const struct generation_file *f, struct buf *out)
{
	buf_printf(out, "        %c %s/", f->is_removed ? '-' : '+', f->platform);
	escape_terminal(out, str_from(f->filename));
	if (f->override) {
		buf_puts(out, " (override by ");
		escape_terminal(out, str_from(f->override_by));
		buf_puts(out, ": ");
		escape_terminal(out, str_from(f->override));
		buf_putc(out, ')');
	}
	buf_puts(out, f->testeds ? " (" : "");
	membership_tested_words(f->tested, f->testeds, out);
	buf_puts(out, f->testeds ? ")\n" : "\n");
}
