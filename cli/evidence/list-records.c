// SPDX-License-Identifier: Apache-2.0
// What the catalog has of the records of test runs.
#include <inttypes.h>
#include <stdio.h>

#include "cli/common/promotion-common.h"
#include "lib/base/decimal.h"
#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/os/clock.h"
#include "lib/state/catalog/catalog-evidence.h"

#define RECORDS_MOST "50"

static void hex_of_record(const struct catalog_evidence *r, char out[SHA256_HEX + 1])
{
	hex_encode(r->id, SHA256_SIZE, out);
	out[SHA256_HEX] = '\0';
}

// --- list ---

static const struct option_row list_options[] = {
	{"most", '\0', "N", "only the newest N records; " RECORDS_MOST, NO_KEY},
	{"kind", 'k', "KIND", "only records of this kind of tests", NO_KEY},
};

struct evidence_list {
	struct promotion_common all;
	const char *most, *kind; // NULL: not given
	uint64_t left;
	struct jsondoc *rows; // NULL: text
	struct buf text;
};

static int take_list_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct evidence_list *x = ctx;
	const struct command_text texts[] = {{"most", &x->most}, {"kind", &x->kind}};
	return command_take_text(texts, ARRAY_SIZE(texts), name, value) ? 0 : err_set(e, ERR_USAGE, "--%s", name);
}

static void add_record_json(struct evidence_list *x, const struct catalog_evidence *r)
{
	char id[SHA256_HEX + 1], made[CLOCK_TEXT], received[CLOCK_TEXT];
	struct jsondoc *row = jsondoc_object();
	hex_of_record(r, id);
	clock_write(r->made, made);
	clock_write(r->received, received);
	const char *const text[][2] = {{"id", id}, {"kind", r->kind}, {"platform", r->platform}, {"python", r->python},
		{"made", made}, {"received", received}, {"by", r->by}, {"address", r->address}, {"views", r->views},
		{"override", r->overrides}};
	for (size_t i = 0; i < ARRAY_SIZE(text); i++)
		jsondoc_put_str(row, text[i][0], text[i][1]);
	jsondoc_put_int(row, "passed", (int64_t)r->passed);
	jsondoc_put_int(row, "failed", (int64_t)r->failed);
	jsondoc_put_int(row, "skipped", (int64_t)r->skipped);
	jsondoc_put_int(row, "wheels", (int64_t)r->wheels);
	jsondoc_add(x->rows, row);
}

static void add_record_line(struct evidence_list *x, const struct catalog_evidence *r)
{
	char id[SHA256_HEX + 1], received[CLOCK_TEXT];
	hex_of_record(r, id);
	clock_write(r->received, received);
	buf_printf(&x->text, "%s  %s  %s  %s/%s  ", id, received, r->kind, r->platform, r->python);
	if (r->overrides)
		buf_puts(&x->text, "override: ");
	else
		buf_printf(&x->text, "%" PRIu64 " passed, %" PRIu64 " failed, %" PRIu64 " skipped", r->passed,
			r->failed, r->skipped);
	escape_terminal(&x->text, str_from(r->overrides ? r->overrides : ""));
	buf_printf(&x->text, "; %zu wheel%s; by ", r->wheels, r->wheels == 1 ? "" : "s");
	escape_terminal(&x->text, str_from(r->by));
	buf_puts(&x->text, " for ");
	escape_terminal(&x->text, str_from(r->views));
	buf_putc(&x->text, '\n');
}

static int add_listed_record(void *ctx, const struct catalog_evidence *r, struct err *e UNUSED)
{
	struct evidence_list *x = ctx;
	if (!x->left || (x->kind && !str_eq(str_from(x->kind), str_from(r->kind))))
		return 0;
	x->left--;
	(x->rows ? add_record_json : add_record_line)(x, r);
	return 0;
}

static int print_records(struct evidence_list *x, struct err *e)
{
	buf_init(&x->text, SIZE_MAX / 2);
	x->rows = x->all.settings.is_json ? jsondoc_array() : NULL;
	if (catalog_evidence_since(x->all.catalog, 0, x->kind ? UINT64_MAX : x->left, add_listed_record, x, e) < 0)
		return -1;
	if (x->rows) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
		jsondoc_put(doc, "evidence", STEAL_PTR(x->rows));
		jsondoc_write(doc, 2, &x->text);
	}
	return promotion_common_write(buf_view(&x->text), e);
}

static void evidence_list_release(struct evidence_list *x)
{
	jsondoc_cleanup(&x->rows);
	buf_release(&x->text);
	promotion_common_release(&x->all);
}

static int run_list(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(evidence_list_release) struct evidence_list x = {.most = RECORDS_MOST};
	promotion_common_init(&x.all);
	if (cli_config_take_line(&x.all.settings, self, argc, argv, take_list_option, &x, e) < 0)
		return err_exit_code(e->kind);
	if (!decimal_parse(str_from(x.most), INT64_MAX, &x.left) || !x.left) {
		err_set(e, ERR_USAGE, "--most %s: not a number from 1 on", x.most);
		return err_exit_code(e->kind);
	}
	return promotion_common_open(&x.all, false, e) < 0 || print_records(&x, e) < 0 ? err_exit_code(e->kind) : 0;
}

const struct command command_evidence_list = {
	.name = "evidence list",
	.arguments = "[STORE]",
	.help = "list the newest records that the index has",
	.options = list_options,
	.option_count = ARRAY_SIZE(list_options),
	.shared = SHARED_BASE | SHARED(JSON),
	.run = run_list,
};

// --- show ---

// The file of the record, with its id.
static int print_evidence(const struct promotion_common *x, const char *id, struct err *e)
{
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(buf_release) struct buf file, text;
	buf_init(&file, 2 * (size_t)LIMIT_EVIDENCE);
	buf_init(&text, SIZE_MAX / 2);
	if (!hex_decode(str_from(id), sha256, SHA256_SIZE))
		return err_set(e, ERR_USAGE, "%s: not the id of a record, 64 hexadecimal digits", id);
	if (catalog_evidence_get(x->catalog, sha256, &file, e) < 0)
		return err_prefix(e, "%s: ", id);
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_read(buf_view(&file), e);
	if (!doc)
		return -1;
	jsondoc_put_str(doc, "id", id);
	jsondoc_write(doc, 2, &text);
	return promotion_common_write(buf_view(&text), e);
}

static int run_show(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(promotion_common_release) struct promotion_common x;
	promotion_common_init(&x);
	int first = cli_config_options(&x.settings, self, argc, argv, NULL, NULL, e);
	if (first >= 0 && (argc - first < 1 || argc - first > 2))
		first = err_set(e, ERR_USAGE, "expected an ID and at most one STORE");
	if (first < 0)
		return err_exit_code(e->kind);
	if (argv[first + 1])
		cli_config_take_store(&x.settings, argv[first + 1]);
	return promotion_common_open(&x, false, e) < 0 || print_evidence(&x, argv[first], e) < 0
		       ? err_exit_code(e->kind)
		       : 0;
}

const struct command command_evidence_show = {
	.name = "evidence show",
	.arguments = "ID [STORE]",
	.help = "print a record, who sent it, when and from where, as JSON",
	.shared = SHARED_BASE,
	.run = run_show,
};
