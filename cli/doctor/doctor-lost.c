// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-lost.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"

static const char *const json_headers[] = {"Accept: application/json", NULL};

// Cuts the last folder off: "https://host/released/" becomes "https://host/" and "released". False: there is none.
static bool cut_folder(struct str *url, struct str *folder)
{
	struct str rest = *url;
	while (rest.len && rest.ptr[rest.len - 1] == '/')
		rest.len--;
	const struct str before = str_slice(rest, 0, (size_t)(str_rfind(rest, '/') + 1));
	*folder = str_slice(rest, before.len, rest.len);
	if (!folder->len || str_ends(before, STR("//")))
		return false;
	*url = before;
	return true;
}

// Of a view, or "simple", the default one. The caller frees the document. NULL: no such page.
static struct jsondoc *fetch_explanation(struct fetch *f, struct str root, struct str view, const char *project,
	const char *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf url;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	buf_init(&url, LIMIT_PATH);
	fetch_answer_init(&a, LIMIT_CLIENT_PAGE);
	buf_printf(&url, STR_FMT "-/explain/" STR_FMT "/%s%s", STR_ARG(root), STR_ARG(view), project, version ? "/" : "");
	escape_url(&url, str_from(version ? version : ""));
	buf_puts(&url, "?format=json");
	if (url.failed || fetch_get(f, url.data, json_headers, &a, &ignored) < 0 || a.status != 200)
		return NULL;
	return jsondoc_read_bounded(buf_view(&a.body), LIMIT_CLIENT_VALUES, &ignored);
}

// Of "…/VIEW/simple/", "…/VIEW/PLATFORM/simple/" or "…/simple/". view: "": the default one.
static struct jsondoc *ask_explanation(struct fetch *f, const char *index, const char *project, const char *version,
	struct str *view)
{
	struct str above = str_from(index), folder;
	if (!cut_folder(&above, &folder) || !str_eq(folder, STR("simple")))
		return NULL;
	struct str root = above;
	for (int folders = 0; folders < 2 && cut_folder(&root, view); folders++) {
		struct jsondoc *doc = fetch_explanation(f, root, *view, project, version);
		if (doc)
			return doc;
	}
	*view = STR("");
	return fetch_explanation(f, above, STR("simple"), project, version);
}

static const char *text_of(const struct jsondoc *loss, const char *key)
{
	const char *text = jsondoc_get_str(loss, key);
	return text ? text : "";
}

static void report_loss(struct doctor_report *r, const struct jsondoc *loss)
{
	const char *since = text_of(loss, "since");
	CLEANUP(mem_free) char *advice = xasprintf("the operator: %s", text_of(loss, "advice"));
	doctor_report_add(r, DOCTOR_WRONG, "lost", advice, "view %s has lost %s of %s%s%s: %s", text_of(loss, "view"),
		text_of(loss, "filename"), text_of(loss, "platform"), *since ? ", since " : "", since,
		text_of(loss, "why"));
}

void doctor_lost(struct doctor_report *r, struct fetch *f, const char *index, const char *project, const char *version)
{
	struct str view;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = ask_explanation(f, index, project, version, &view);
	const struct jsondoc *lost = doc ? jsondoc_get(doc, "lost") : NULL;
	size_t count = 0;
	for (size_t i = 0; lost && i < jsondoc_count(lost); i++) {
		const struct jsondoc *loss = jsondoc_at(lost, i);
		bool is_meant = !view.len || str_eq(view, str_from(text_of(loss, "view")));
		if (is_meant && count++ < LIMIT_LOST_NAMED)
			report_loss(r, loss);
	}
	if (count > LIMIT_LOST_NAMED)
		doctor_report_add(r, DOCTOR_WRONG, "lost", "the operator: wheelcache explain names all",
			"%zu more files of %s are lost", count - LIMIT_LOST_NAMED, project);
}
