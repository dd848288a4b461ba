// SPDX-License-Identifier: Apache-2.0
#include "server/handlers/promote-document.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"

const char *const promote_document_keys[] = {
	"select", "from", "evidence", "reason", "override", "all_or_nothing", "dry_run", "newest", NULL};

// A text of one line; *out stays as it is where there is none.
static int read_promote_line(const struct jsondoc *doc, const char *key, size_t limit, const char **out, struct err *e)
{
	const char *value = jsondoc_get_str(doc, key);
	if (jsondoc_is_null(doc, key))
		return 0;
	if (!value || !*value)
		return err_set(e, ERR_INVALID, "promotion: \"%s\" is no text", key);
	if (strlen(value) > limit)
		return err_set(e, ERR_INVALID, "promotion: \"%s\" has more than %zu bytes", key, limit);
	for (const char *c = value; *c; c++)
		if ((unsigned char)*c < ' ' || *c == 0x7f)
			return err_set(e, ERR_INVALID, "promotion: \"%s\" has a control character", key);
	*out = value;
	return 0;
}

static int read_promote_flag(const struct jsondoc *doc, const char *key, bool *out, struct err *e)
{
	int64_t number;
	*out = jsondoc_is_true(doc, key);
	if (jsondoc_get_str(doc, key) || jsondoc_get(doc, key) || jsondoc_get_int(doc, key, &number))
		return err_set(e, ERR_INVALID, "promotion: \"%s\" is neither true nor false", key);
	return 0;
}

// The array of this key; *out NULL: there is none.
static int read_promote_list(const struct jsondoc *doc, const char *key, size_t most, const struct jsondoc **out,
	struct err *e)
{
	int64_t number;
	*out = jsondoc_get(doc, key);
	if (jsondoc_get_str(doc, key) || jsondoc_is_true(doc, key) || jsondoc_get_int(doc, key, &number))
		return err_set(e, ERR_INVALID, "promotion: \"%s\" is no array", key);
	if (*out && jsondoc_count(*out) > most)
		return err_set(e, ERR_LIMIT, "promotion: \"%s\" has more than %zu entries", key, most);
	return 0;
}

// Of a path, the last part is the name of a file.
static bool is_select_word(struct str word)
{
	long slash = str_rfind(word, '/');
	size_t last = word.len - (size_t)(slash + 1);
	return last && last <= LIMIT_FILE_NAME && word.len <= LIMIT_PATH;
}

static int read_selects(struct promote_document *d, struct err *e)
{
	const struct jsondoc *list;
	if (read_promote_list(d->json, "select", LIMIT_PROMOTE_SELECTS, &list, e) < 0)
		return -1;
	size_t count = list ? jsondoc_count(list) : 0;
	if (list && !count)
		return err_set(e, ERR_INVALID, "promotion: \"select\" is empty");
	d->select = xcalloc(count + 1, sizeof(*d->select));
	for (size_t i = 0; i < count; i++) {
		d->select[i] = jsondoc_at_str(list, i);
		if (!d->select[i] || !is_select_word(str_from(d->select[i])))
			return err_set(e, ERR_INVALID, "promotion: select[%zu] is no project, no file name and no path",
				i);
	}
	d->request.select = d->select;
	d->request.selects = count;
	return 0;
}

static int read_given_evidence(struct promote_document *d, struct err *e)
{
	const struct jsondoc *list;
	if (read_promote_list(d->json, "evidence", LIMIT_PROMOTE_EVIDENCE, &list, e) < 0)
		return -1;
	size_t count = list ? jsondoc_count(list) : 0;
	d->evidence = xcalloc(count + 1, sizeof(*d->evidence));
	d->bytes = xcalloc(count + 1, sizeof(*d->bytes));
	d->request.evidence = d->evidence;
	for (size_t i = 0; i < count; i++) {
		CLEANUP(buf_release) struct buf text;
		buf_init(&text, LIMIT_EVIDENCE);
		jsondoc_write(jsondoc_at(list, i), 0, &text);
		if (evidence_read(buf_view(&text), &d->evidence[i], e) < 0)
			return err_prefix(e, "promotion: evidence[%zu]: ", i);
		d->bytes[i] = text.len;
		d->request.evidences++;
	}
	return 0;
}

int promote_document_read(struct str text, struct promote_document *out, struct err *e)
{
	*out = (struct promote_document){.request = {.reason = ""}};
	struct promote_request *r = &out->request;
	out->json = jsondoc_read(text, e);
	if (!out->json || read_selects(out, e) < 0 || read_given_evidence(out, e) < 0 ||
		read_promote_line(out->json, "from", LIMIT_FILE_NAME, &r->from, e) < 0 ||
		read_promote_line(out->json, "reason", LIMIT_REASON, &r->reason, e) < 0 ||
		read_promote_line(out->json, "override", LIMIT_REASON, &r->override, e) < 0 ||
		read_promote_flag(out->json, "all_or_nothing", &r->all_or_nothing, e) < 0 ||
		read_promote_flag(out->json, "newest", &r->newest, e) < 0)
		return -1;
	return read_promote_flag(out->json, "dry_run", &r->dry_run, e);
}

unsigned promote_document_tries(size_t refused)
{
	size_t tries = refused ? refused / LIMIT_PROMOTE_REFUSED : LIMIT_PROMOTE_COST;
	return tries < LIMIT_EVIDENCE_AT_ONCE ? (unsigned)tries : LIMIT_EVIDENCE_AT_ONCE;
}

void promote_document_release(struct promote_document *d)
{
	for (size_t i = 0; i < d->request.evidences; i++)
		evidence_release(&d->evidence[i]);
	free(d->select);
	free(d->evidence);
	free(d->bytes);
	jsondoc_cleanup(&d->json);
}
