// SPDX-License-Identifier: Apache-2.0
#include "indexer/summary.h"

#include <inttypes.h>
#include <stdlib.h>

#include "lib/base/jsondoc.h"
#include "lib/base/mem.h"

enum { SHOWN = 20 }; // of a list, to people

static const struct {
	const char *key;  // in JSON
	const char *text; // to people; NULL: not said
	bool always;      // also where it is 0
} number_row[SUMMARY_NUMBERS] = {
	[SUMMARY_FILES] = {"files", "wheels and sdists seen", true},
	[SUMMARY_ADDED] = {"added", "added", true},
	[SUMMARY_UNCHANGED] = {"unchanged", "unchanged", true},
	[SUMMARY_CHANGED] = {"changed", "with other bytes than before", true},
	[SUMMARY_GONE] = {"gone", "gone", true},
	[SUMMARY_QUARANTINED] = {"quarantined", "quarantined", true},
	[SUMMARY_DUPLICATES] = {"duplicates", "of a name that is in another folder too", false},
	[SUMMARY_WAITING] = {"waiting", "still being written", false},
	[SUMMARY_IGNORED] = {"ignored", "other entries ignored", false},
	[SUMMARY_LINKS] = {"links_ignored", "links not followed", false},
	[SUMMARY_SHADOWED] = {"shadowed", "hidden in the merged view by an earlier platform",
		false},
	[SUMMARY_FINDINGS] = {"findings", "oddities in files that were taken", false},
	[SUMMARY_PROBLEMS] = {"problems", NULL, false},
	[SUMMARY_BYTES] = {"bytes_hashed", NULL, false},
};

static const struct {
	const char *key;
	const char *heading;
	const char *field[SUMMARY_FIELDS];
} list_row[SUMMARY_LISTS] = {
	[LIST_PROBLEMS] = {"problems", "could not be looked at, and stay as they were", {"reason"}},
	[LIST_CHANGED] = {"changed", "ALARM: bytes changed under a published name",
		{"path", "before", "after"}},
	[LIST_QUARANTINED] = {"quarantined", "quarantined: not listed", {"path", "reason"}},
	[LIST_DUPLICATES] = {"duplicates", "listed from another folder of the platform",
		{"path", "reason"}},
	[LIST_DIFFERING] = {"differing", "listed by several platforms with different bytes",
		{"filename", "platforms"}},
};

void summary_release(struct summary *s)
{
	for (int i = 0; i < SUMMARY_LISTS; i++) {
		for (size_t k = 0; k < s->list[i].count; k++)
			for (int f = 0; f < SUMMARY_FIELDS; f++)
				free(s->list[i].item[k].field[f]);
		free(s->list[i].item);
	}
	*s = (struct summary){0};
}

void summary_add(struct summary *s, enum summary_list list, const char *first, const char *second,
	const char *third)
{
	const char *const text[SUMMARY_FIELDS] = {first, second, third};
	s->list[list].all++;
	if (s->list[list].count == SUMMARY_KEPT)
		return;
	GROW(s->list[list].item, s->list[list].count, s->list[list].room);
	struct summary_item *item = &s->list[list].item[s->list[list].count++];
	for (int f = 0; f < SUMMARY_FIELDS; f++)
		item->field[f] = text[f] ? xstrdup(text[f]) : NULL;
}

// What somebody else named must not move the cursor.
static void put_text(const char *text, FILE *out)
{
	for (; *text; text++)
		fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}

static void print_list(const struct summary *s, enum summary_list list, FILE *out)
{
	if (!s->list[list].all)
		return;
	fprintf(out, "%s:\n", list_row[list].heading);
	for (size_t k = 0; k < s->list[list].count && k < SHOWN; k++) {
		for (int f = 0; f < SUMMARY_FIELDS && s->list[list].item[k].field[f]; f++) {
			fputs(f == 0 ? "  " : f == 1 ? ": " : " -> ", out);
			put_text(s->list[list].item[k].field[f], out);
		}
		fputc('\n', out);
	}
	if (s->list[list].all > SHOWN)
		fprintf(out, "  and %" PRIu64 " more\n", s->list[list].all - SHOWN);
}

void summary_print(const struct summary *s, FILE *out)
{
	for (int i = 0; i < SUMMARY_LISTS; i++)
		print_list(s, (enum summary_list)i, out);
	for (int i = 0; i < SUMMARY_NUMBERS; i++)
		if (number_row[i].text && (s->number[i] || number_row[i].always))
			fprintf(out, "%9" PRIu64 " %s\n", s->number[i], number_row[i].text);
	fprintf(out, "%9.1f MB hashed in %.1f s\n", (double)s->number[SUMMARY_BYTES] / 1e6,
		s->seconds);
}

static struct jsondoc *list_json(const struct summary *s, enum summary_list list)
{
	struct jsondoc *all = jsondoc_array();
	for (size_t k = 0; k < s->list[list].count; k++) {
		struct jsondoc *item = jsondoc_object();
		for (int f = 0; f < SUMMARY_FIELDS && list_row[list].field[f]; f++)
			jsondoc_put_str(
				item, list_row[list].field[f], s->list[list].item[k].field[f]);
		jsondoc_add(all, item);
	}
	return all;
}

void summary_json(const struct summary *s, struct buf *out)
{
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = jsondoc_object();
	struct jsondoc *lists = jsondoc_object();
	for (int i = 0; i < SUMMARY_NUMBERS; i++)
		jsondoc_put_int(doc, number_row[i].key, (int64_t)s->number[i]);
	jsondoc_put_real(doc, "seconds", s->seconds);
	for (int i = 0; i < SUMMARY_LISTS; i++)
		jsondoc_put(lists, list_row[i].key, list_json(s, (enum summary_list)i));
	jsondoc_put(doc, "lists", lists);
	jsondoc_write(doc, 2, out);
}
