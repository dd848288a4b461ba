// SPDX-License-Identifier: Apache-2.0
#include "cli/common/promotion-common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli/common/file-word.h"
#include "lib/format/escape.h"
#include "promoter/promotion-run.h"
#include "lib/view/site-check.h"

// The last files that left earlier have a line, which says how they come back; after many nights there are too many.
enum { LEFT_SHOWN = 10 };

void promotion_common_init(struct promotion_common *p)
{
	*p = (struct promotion_common){0};
	config_init(&p->config);
}

void promotion_common_release(struct promotion_common *p)
{
	site_release(&p->site);
	catalog_close(p->catalog);
	audit_close(p->audit);
	config_release(&p->config);
	free(p->by);
}

static int open_site(struct promotion_common *p, struct err *e)
{
	struct store store = {0};
	if (store_open(&p->config, STORE_PATIENT, &store, e) < 0)
		return -1;
	if (site_check_find(&p->config, &store, p->catalog, e) < 0) {
		store_release(&store);
		return -1;
	}
	return site_init(&p->site, &p->config, &store, p->catalog, e);
}

int promotion_common_open(struct promotion_common *p, bool writes, struct err *e)
{
	if (cli_config_read(&p->settings, &p->config, e) < 0)
		return -1;
	CLEANUP(mem_free) char *path = cli_config_catalog(&p->config, e);
	if (!path || catalog_open_read(path, &p->catalog, e) < 0)
		return -1;
	if (writes && cli_config_audit(&p->config, &p->audit, e) < 0)
		return -1;
	p->by = audit_account();
	if (!writes)
		return open_site(p, e);
	catalog_close(STEAL_PTR(p->catalog)); // it exists, so this is no typing error
	return catalog_open(path, &p->catalog, e) < 0 ? -1 : open_site(p, e);
}

int promotion_common_check_view(const struct promotion_common *p, const char *name, struct err *e)
{
	if (promotion_run_view(&p->config, name, e))
		return 0;
	e->kind = ERR_USAGE;
	return -1;
}

int promotion_common_write(struct str text, struct err *e)
{
	if (fwrite(text.ptr, 1, text.len, stdout) != text.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static int read_file_word(const struct promotion_common *p, const char *word, struct file_word *out, struct err *e)
{
	if (file_word_read(word, &p->site.store, out, e) < 0)
		return err_advise(e, "a path is that of a file in the store, such as PLATFORM/FILE; the name alone means "
				     "the file on each platform");
	return file_word_check(out, p->catalog, e);
}

int promotion_common_words(const struct promotion_common *p, const char *const *word, size_t words, struct strset *out,
	struct err *e)
{
	for (size_t i = 0; i < words; i++) {
		CLEANUP(file_word_release) struct file_word file = {0};
		CLEANUP(mem_free) char *below = NULL;
		if (file_word_fits(word[i]) && read_file_word(p, word[i], &file, e) < 0)
			return -1;
		if (file.platform)
			below = xasprintf("%s/%s", file.platform->name, file.name);
		strset_add(out, below ? below : word[i]);
	}
	return 0;
}

static void print_promote_row(const struct promote_row *row, struct buf *out)
{
	buf_printf(out, "%-8s %s/", promote_result_name[row->result], row->platform);
	escape_terminal(out, str_from(row->filename));
	buf_puts(out, row->is_override ? " (override)" : "");
	buf_puts(out, *row->reason ? ": " : "");
	escape_terminal(out, str_from(row->reason));
	buf_putc(out, '\n');
}

static void print_counts(const struct promote_answer *a, const char *view, bool is_dry_run, struct buf *out)
{
	const char *separator = ": ";
	buf_printf(out, "%s: generation %" PRId64, view, a->generation);
	for (int i = 0; i < PROMOTE_RESULT_COUNT; i++) {
		if (!a->count[i])
			continue;
		buf_printf(out, "%s%zu %s", separator, a->count[i], promote_result_name[i]);
		separator = ", ";
	}
	buf_puts(out, !a->rows ? ": nothing to do" : "");
	buf_puts(out, is_dry_run ? " (dry run: nothing was changed)\n" : "\n");
}

static size_t count_left(const struct promote_answer *a)
{
	size_t count = 0;
	for (size_t i = 0; i < a->rows; i++)
		count += a->row[i].result == PROMOTE_LEFT;
	return count;
}

int promotion_common_print(const struct promotion_common *p, const struct promote_answer *answer, const char *view,
	struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, SIZE_MAX / 2);
	if (p->settings.is_json) {
		promote_write_json(answer, view, p->settings.is_dry_run, &out);
		return promotion_common_write(buf_view(&out), e);
	}
	size_t left = count_left(answer);
	for (size_t i = 0; i < answer->rows; i++) {
		const struct promote_row *row = &answer->row[i];
		bool is_problem = row->result == PROMOTE_REFUSED || row->result == PROMOTE_HELD;
		bool is_change = row->result == PROMOTE_DONE || row->result == PROMOTE_ENDED ||
				 (row->result == PROMOTE_OVERTAKEN && !row->is_repeated) ||
				 (row->result == PROMOTE_LEFT && left-- <= LEFT_SHOWN);
		if (is_problem || (!p->settings.is_quiet && is_change))
			print_promote_row(row, &out);
	}
	if (!p->settings.is_quiet)
		print_counts(answer, view, p->settings.is_dry_run, &out);
	return promotion_common_write(buf_view(&out), e);
}
