// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/publish-attach.h"

#include <string.h>

#include "lib/state/store/catalog-update.h"
#include "lib/state/store/volume-release.h"

static bool is_given(const struct publish_attach_one *one)
{
	return one->text.data != NULL;
}

void publish_attach_add(struct publish_attach *a, enum attachment kind, struct str text)
{
	struct publish_attach_one *one = &a->one[kind];
	buf_release(&one->text);
	buf_init(&one->text, SIZE_MAX / 2);
	buf_str(&one->text, text);
}

void publish_attach_release(struct publish_attach *a)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		buf_release(&a->one[kind].text);
		attachment_facts_release(&a->one[kind].facts);
		place_write_free(&a->one[kind].write);
	}
	*a = (struct publish_attach){0};
}

int publish_attach_check(struct publish_attach *a, const char *filename, const uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		struct publish_attach_one *one = &a->one[kind];
		if (!is_given(one))
			continue;
		attachment_facts_release(&one->facts);
		attachment_file_examine(buf_view(&one->text), filename, (enum attachment)kind, &one->facts);
		if (one->facts.refusal.kind != ERR_NONE) {
			*e = one->facts.refusal;
			return err_prefix(e, "%s: ", filename);
		}
		if (attachment_check_subject((enum attachment)kind, filename, one->facts.subject, sha256, e) < 0)
			return err_prefix(e, "%s: ", filename);
	}
	return 0;
}

// What to do about the one that has the name. One that is not valid, or about other bytes, belongs to no file.
static int choose_step(struct publish_attach_one *one, enum attachment kind, struct place_folder *folder,
	const char *filename, bool is_replacing, struct err *e)
{
	CLEANUP(attachment_facts_release) struct attachment_facts there = {0};
	int found = attachment_file_read(folder, filename, kind, &there, e);
	if (found < 0 && e->kind == ERR_DENIED)
		return err_set(e, ERR_INVALID, "%s%s: the name is taken by something that is not a file", filename,
			attachment_ending[kind]);
	if (found < 0)
		return -1;
	bool is_about =
		found && there.refusal.kind == ERR_NONE && memcmp(there.subject, one->facts.subject, SHA256_SIZE) == 0;
	one->step = found ? PUBLISH_ATTACH_REPLACE : PUBLISH_ATTACH_LINK;
	if (found && str_eq(buf_view(&there.text), buf_view(&one->text)))
		one->step = PUBLISH_ATTACH_KEEP;
	else if (is_about && !is_replacing)
		return err_set(e, ERR_CONFLICT, "File already exists: %s%s with other contents", filename,
			attachment_ending[kind]);
	return 0;
}

// Whether ours is dropped, because of the conflict.
static bool yields(const struct publish_attach *a, struct publish_attach_one *one, const struct err *taken)
{
	if (!a->yields || taken->kind != ERR_CONFLICT)
		return false;
	buf_release(&one->text);
	return true;
}

int publish_attach_prepare(struct publish_attach *a, struct place_folder *folder, const char *filename,
	bool is_replacing, struct err *e)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		struct publish_attach_one *one = &a->one[kind];
		if (!is_given(one))
			continue;
		struct err taken = ERR_INIT;
		int chosen = choose_step(one, (enum attachment)kind, folder, filename, is_replacing, &taken);
		if (chosen < 0 && yields(a, one, &taken))
			continue;
		if (chosen < 0) {
			*e = taken;
			return -1;
		}
		place_write_free(&one->write);
		if (one->step == PUBLISH_ATTACH_KEEP)
			continue;
		one->write = attachment_write_begin(folder, filename, (enum attachment)kind, buf_view(&one->text), e);
		if (!one->write)
			return -1;
	}
	return 0;
}

// Another process may have given the name to the same bytes meanwhile.
static int link_attachment(struct publish_attach_one *one, enum attachment kind, struct place_folder *folder,
	const char *filename, struct err *e)
{
	struct err taken = ERR_INIT;
	if (place_put_new(one->write, &taken) == 0)
		return 0;
	if (taken.kind == ERR_CONFLICT && choose_step(one, kind, folder, filename, false, e) < 0)
		return -1;
	if (taken.kind == ERR_CONFLICT && one->step == PUBLISH_ATTACH_KEEP)
		return 0;
	*e = taken;
	return -1;
}

static int stat_attachment(struct publish_attach_one *one, enum attachment kind, struct place_folder *folder,
	const char *filename, struct err *e)
{
	struct place_info info;
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	int found = name ? place_stat(folder, name, &info, e) : 0;
	if (found <= 0)
		return found ? -1 : err_set(e, ERR_IO, "%s%s has gone", filename, attachment_ending[kind]);
	one->facts.version = info.version;
	return 0;
}

int publish_attach_finish(struct publish_attach *a, struct place_folder *folder, const char *filename, struct err *e)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++) {
		struct publish_attach_one *one = &a->one[kind];
		if (!is_given(one))
			continue;
		struct err taken = ERR_INIT;
		if (one->step == PUBLISH_ATTACH_LINK &&
			link_attachment(one, (enum attachment)kind, folder, filename, &taken) < 0) {
			if (yields(a, one, &taken))
				continue;
			*e = taken;
			return -1;
		}
		if (one->step == PUBLISH_ATTACH_REPLACE && place_replace(one->write, NULL, e) < 0)
			return -1;
		if (stat_attachment(one, (enum attachment)kind, folder, filename, e) < 0 || place_sync(folder, e) < 0)
			return -1;
	}
	return 0;
}

void publish_attach_withdraw(const struct publish_attach *a, struct place_folder *folder, const char *filename)
{
	struct err ignored = ERR_INIT;
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		if (is_given(&a->one[kind]) && a->one[kind].step != PUBLISH_ATTACH_KEEP &&
			attachment_file_remove(folder, filename, (enum attachment)kind, &ignored) < 0)
			continue; // a check reports it
}

static int record_attachment(const struct publish_attach_one *one, enum attachment kind, const struct platform *p,
	struct catalog *c, const char *folder, const char *filename, struct err *e)
{
	CLEANUP(mem_free) char *name = attachment_file_name(filename, kind);
	return store_is_split(p) ? volume_release_want(catalog_path(c), p, folder, name, e)
				 : catalog_update_attach(p, c, folder, filename, kind, &one->facts, e);
}

int publish_attach_record(struct publish_attach *a, const struct platform *p, struct catalog *c, const char *folder,
	const char *filename, struct err *e)
{
	for (int kind = 0; kind < ATTACHMENT_COUNT; kind++)
		if (is_given(&a->one[kind]) &&
			record_attachment(&a->one[kind], (enum attachment)kind, p, c, folder, filename, e) < 0)
			return -1;
	return 0;
}
