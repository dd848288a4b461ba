// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/attach-ops.h"

#include <stdlib.h>
#include <string.h>

#include "lib/state/publish/publish-attach.h"
#include "lib/state/publish/publish.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/target-dir.h"

// Where it belongs. made: folders that were created for it.
struct attach_place {
	char *folder; // below the platform
	struct place_folder *open;
	unsigned made;
	uint8_t sha256[SHA256_SIZE]; // of the file, or of that which it waits for
};

static void attach_place_release(struct attach_place *at)
{
	free(at->folder);
	place_folder_close(&at->open);
}

static int find_attach_place(const struct platform *p, struct catalog *c, const struct attach_request *r,
	struct attach_place *at, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place file = {0};
	if (catalog_find_file(c, p->id, r->filename, &file, &why) == 0) {
		const char *slash = strrchr(file.path, '/');
		at->folder = slash ? xstrndup(file.path, (size_t)(slash - file.path)) : xstrdup("");
		memcpy(at->sha256, file.sha256, SHA256_SIZE);
		at->open = place_open_folder(p->written, at->folder, e);
		return at->open ? 0 : -1;
	}
	if (why.kind == ERR_NOT_FOUND && r->waits) {
		CLEANUP(mem_free) char *project = publish_project_of(r->filename, NULL, e);
		if (!project || attachment_subject(r->kind, r->text, r->filename, at->sha256, e) < 0)
			return -1;
		at->folder = target_dir_choose(p, c, project, e);
		if (!at->folder)
			return -1;
		at->open = target_dir_open(p, c, at->folder, &at->made, e);
		return !at->open || target_dir_check(p, c, at->open, r->filename, e) < 0 ? -1 : 0;
	}
	*e = why;
	return -1;
}

static int check_not_taken(const struct attach_request *r, struct place_folder *folder, struct err *e)
{
	CLEANUP(attachment_facts_release) struct attachment_facts there = {0};
	int found = r->replaces ? 0 : attachment_file_read(folder, r->filename, r->kind, &there, e);
	if (found <= 0 || str_eq(buf_view(&there.text), r->text))
		return found < 0 ? -1 : 0;
	return err_set(e, ERR_CONFLICT, "%s%s is there already, with other contents", r->filename,
		attachment_ending[r->kind]);
}

int attach_ops_put(const struct platform *p, struct catalog *c, const struct attach_request *request, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	CLEANUP(attach_place_release) struct attach_place at = {0};
	CLEANUP(publish_attach_release) struct publish_attach a = {0};
	publish_attach_add(&a, request->kind, request->text);
	if (freeze_enter(p, false, &hold, e) < 0)
		return -1;
	if (find_attach_place(p, c, request, &at, e) < 0 ||
		publish_attach_check(&a, request->filename, at.sha256, e) < 0 ||
		check_not_taken(request, at.open, e) < 0 ||
		publish_attach_prepare(&a, at.open, request->filename, request->replaces, e) < 0 ||
		publish_attach_finish(&a, at.open, request->filename, e) < 0) {
		if (at.made)
			target_dir_drop(p, at.folder, at.made);
		return -1;
	}
	return publish_attach_record(&a, p, c, at.folder, request->filename, e);
}
