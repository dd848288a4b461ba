// SPDX-License-Identifier: Apache-2.0
#include "lib/state/publish/publish.h"

#include <stdlib.h>
#include <string.h>

#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/state/publish/publish-attach.h"
#include "lib/state/store/catalog-update.h"
#include "lib/state/store/freeze.h"
#include "lib/state/store/ingest.h"
#include "lib/state/store/volume-release.h"
#include "lib/state/store/project-status.h"
#include "lib/state/store/sidecar.h"
#include "lib/state/store/target-dir.h"
#include "lib/audit/wheel-gate.h"
#include "lib/state/publish/upload-policy.h"

struct publish {
	const struct platform *platform;
	char *filename;
	char *project; // normalised
	char *folder;  // below the platform
	unsigned made; // number of its last parts that were created for this file
	struct place_folder *open; // that folder
	struct place_write *write; // NULL: it has its name, or there is none yet
	struct multi_digest *hashes;
	uint64_t size;
	struct ingest *ingest;
	struct ingest_facts facts, competitor; // of the new file, and of the file that has the name
	struct file_past past;
	bool has_past; // else it is a new file
	char time[MARK_TIME_TEXT];
	enum strictness strictness;
	bool takes_facts;
	struct packed_facts inside; // of the new file
	struct publish_attach attach;
	struct wheel_gate *gate;
	struct audit_report report; // of the new file
	struct err verdict;         // ERR_NONE: the gate takes it
	bool is_refused;            // by the verdict
};

// --- beginning, writing ---

// Called before the name is part of a path. A file whose name is too long for a sidecar could not be removed later.
static int check_filename(const char *filename, struct err *e)
{
	if (filename_check(str_from(filename), e) < 0)
		return err_prefix(e, "%.255s: ", filename);
	return sidecar_fits(filename) ? 0 : err_set(e, ERR_INVALID, "%s: the name is too long", filename);
}

char *publish_project_of(const char *filename, const char *said, struct err *e)
{
	CLEANUP(filename_release) struct filename name = {0};
	if (check_filename(filename, e) < 0)
		return NULL;
	if (filename_kind(str_from(filename)) == FILENAME_SDIST && said && name_is_valid(str_from(said))) {
		CLEANUP(buf_release) struct buf normal = buf_up_to(LIMIT_FILE_NAME);
		name_normalize(str_from(said), &normal);
		return buf_steal(&normal);
	}
	if (filename_parse(str_from(filename), &name, e) == 0)
		return STEAL_PTR(name.project);
	err_prefix(e, "%.255s: ", filename);
	return NULL;
}

// Begins a step of the write. A platform that has become a link to elsewhere is an ERR_IO, not a fault of the file.
static int enter_step(const struct publish *p, struct freeze_hold *hold, struct err *e)
{
	if (freeze_enter(p->platform, false, hold, e) == 0)
		return 0;
	if (e->kind == ERR_DENIED)
		e->kind = ERR_IO;
	return -1;
}

// An archived or a quarantined project takes no files (PEP 792).
static int check_status(const struct publish *p, struct catalog *c, struct err *e)
{
	CLEANUP(project_status_release) struct project_status status = {0};
	if (project_status_find(c, p->project, &p->platform, 1, &status, e) < 0)
		return -1;
	return project_status_takes_files(&status)
		       ? 0
		       : err_set(e, ERR_DENIED, "%s is %s here, and takes no files: %s", p->project,
				 simplepage_status_name[status.status], status.reason);
}

static int begin_file(struct publish *p, struct catalog *c, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold;
	if (enter_step(p, &hold, e) < 0)
		return -1;
	p->folder = check_status(p, c, e) < 0 ? NULL : target_dir_choose(p->platform, c, p->project, e);
	if (!p->folder)
		return -1;
	p->open = target_dir_open(p->platform, c, p->folder, &p->made, e);
	if (!p->open || target_dir_check(p->platform, c, p->open, p->filename, e) < 0)
		return -1;
	p->write = place_write_begin(p->open, p->filename, e);
	return p->write ? 0 : -1;
}

struct publish *publish_begin(const struct platform *platform, struct catalog *c, const char *filename,
	const char *project, struct err *e)
{
	struct publish *p = xcalloc(1, sizeof(*p));
	p->platform = platform;
	p->filename = xstrdup(filename);
	p->project = xstrdup(project);
	p->hashes = multi_digest_new();
	p->strictness = STRICT;
	ingest_facts_init(&p->facts);
	ingest_facts_init(&p->competitor);
	if (begin_file(p, c, e) == 0)
		return p;
	publish_free(p);
	return NULL;
}

// Removes an unpublished file. On a frozen platform it stays until a scan removes it.
static void clear_away(struct publish *p)
{
	struct err why = ERR_INIT;
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	if ((p->write || p->made) && enter_step(p, &hold, &why) < 0 && why.kind == ERR_BUSY) {
		if (p->write)
			place_write_abandon(p->write);
		p->made = 0;
	}
	place_write_free(&p->write);
	publish_attach_release(&p->attach);
	if (p->made)
		target_dir_drop(p->platform, p->folder, p->made);
}

void publish_free(struct publish *p)
{
	if (!p)
		return;
	clear_away(p);
	place_folder_close(&p->open);
	multi_digest_free(p->hashes);
	ingest_free(p->ingest);
	ingest_facts_release(&p->facts);
	ingest_facts_release(&p->competitor);
	packed_facts_release(&p->inside);
	audit_report_release(&p->report);
	free(p->project);
	free(p->filename);
	free(p->folder);
	free(p);
}

const char *publish_project(const struct publish *p)
{
	return p->project;
}

uint64_t publish_size(const struct publish *p)
{
	return p->size;
}

int publish_write(struct publish *p, struct str bytes, struct err *e)
{
	CLEANUP(freeze_leave) struct freeze_hold hold;
	if (enter_step(p, &hold, e) < 0)
		return -1;
	multi_digest_add(p->hashes, bytes);
	p->size += bytes.len;
	return place_write_add(p->write, bytes, e);
}

void publish_attach(struct publish *p, enum attachment kind, struct str text)
{
	publish_attach_add(&p->attach, kind, text);
	p->attach.yields = true;
}

// --- the file that has the name ---

// For other bytes: *equal tells whether the members have the same contents. An sdist has no such digest.
static int compare_contents(struct publish *p, struct place_file *file, bool *equal, struct err *e)
{
	const struct wheel *ours = &p->facts.wheel, *theirs = &p->competitor.wheel;
	if (ingest_read(p->ingest, file, p->filename, STRICT, &p->competitor, e) < 0)
		return -1;
	*equal = !p->competitor.refusal && ours->has_content && theirs->has_content &&
		 memcmp(ours->content_sha256, theirs->content_sha256, SHA256_SIZE) == 0;
	return 0;
}

// Compares the open file of the name with the new one, by bytes, else by the contents of the members.
static int compare_published(struct publish *p, struct place_file *file, struct publish_receipt *out, struct err *e)
{
	struct place_version version;
	bool equal = false;
	char hex[SHA256_HEX + 1] = "";
	if (ingest_hash(p->ingest, file, &version, out->sha256, e) < 0)
		return err_prefix(e, "%s is there already: ", p->filename);
	out->result = PUBLISH_SAME;
	if (memcmp(out->sha256, p->facts.sha256, SHA256_SIZE) == 0)
		return 0;
	out->result = PUBLISH_EQUAL;
	if (compare_contents(p, file, &equal, e) < 0)
		return err_prefix(e, "%s is there already: ", p->filename);
	if (equal)
		return 0;
	hex_encode(out->sha256, SHA256_SIZE, hex);
	return err_set(e, ERR_CONFLICT, "File already exists: %s with other contents, sha256 %s%s%s", p->filename, hex,
		p->competitor.refusal ? "; what is there is damaged: " : "",
		p->competitor.refusal ? p->competitor.refusal : "");
}

// Opens the file that the platform lists under the name, in any folder. 1: opened; 0: there is none, or it is gone from
// the disk.
static int open_listed(struct publish *p, struct catalog *c, struct place_file **file, char **folder, struct err *e)
{
	struct err missing = ERR_INIT;
	CLEANUP(catalog_place_release) struct catalog_place place = {0};
	if (catalog_find_file(c, p->platform->id, p->filename, &place, &missing) == 0)
		*file = place_open(p->platform->written, place.path, &missing);
	if (!*file && missing.kind != ERR_NOT_FOUND) {
		*e = missing;
		return -1;
	}
	if (!*file)
		return 0;
	char *slash = strrchr(place.path, '/');
	*folder = slash ? xstrndup(place.path, (size_t)(slash - place.path)) : xstrdup("");
	return 1;
}

// --- the end ---

void publish_take_facts(struct publish *p)
{
	p->takes_facts = true;
}

void publish_with_past(struct publish *p, const struct file_past *past, enum strictness strictness)
{
	p->past = *past;
	p->has_past = true;
	p->strictness = strictness;
}

void publish_audit(struct publish *p, struct wheel_gate *gate)
{
	p->gate = wheel_gate_refuses(gate) ? gate : NULL;
}

const struct audit_report *publish_refusal(const struct publish *p)
{
	return p->is_refused ? &p->report : NULL;
}

// Of a wheel that cannot be read: it is as good as any, unless it has to be judged. A failure of the disk is no fault
// of the upload: the next scan tries again.
static int note_unreadable(struct publish *p, const struct err *why, struct err *e)
{
	struct err failure = *why;
	bool is_known = p->takes_facts ? packed_facts_fail(why, &p->inside, &failure) == 0
				       : why->kind == ERR_INVALID || why->kind == ERR_LIMIT;
	if (p->gate && !is_known) {
		*e = failure;
		return err_prefix(e, "what is inside %s: ", p->filename);
	}
	if (p->gate)
		err_set(&p->verdict, ERR_INVALID, "%s: it cannot be audited: %s", p->filename, why->msg);
	if (!is_known)
		log_warn("what is inside %s: %s",
			p->platform->is_private ? "a file of a private platform" : p->filename, why->msg);
	return 0;
}

// What is inside the wheel, for the catalog and for the audit.
static int look_inside(struct publish *p, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	if ((!p->takes_facts && !p->gate) || p->facts.name.kind != FILENAME_WHEEL)
		return 0;
	const struct byte_source bytes = ingest_bytes(p->ingest, place_write_file(p->write), &p->facts);
	if (wheel_facts_read(&bytes, &p->facts.name, &facts, &why) < 0)
		return note_unreadable(p, &why, e);
	if (p->gate) {
		wheel_gate_judge(p->gate, p->platform->name, &p->facts.name, &facts, &p->report);
		if (wheel_gate_check(&p->report, &p->verdict) < 0)
			err_prefix(&p->verdict, "%s: ", p->filename);
	}
	if (p->takes_facts)
		packed_facts_pack(ingest_wheel_reader(p->ingest), &facts, &p->inside);
	return 0;
}

// A file that is served only after a release is listed then, because its version differs at the served place.
static int record_file(const struct publish *p, struct catalog *c, const struct ingest_facts *facts,
	const struct file_past *past, const char *folder, const struct place_version *version, struct err *e)
{
	if (store_is_split(p->platform))
		return target_dir_check(p->platform, c, p->open, p->filename, e);
	return catalog_update_put(p->platform, c, facts, facts == &p->facts ? &p->inside : NULL, past, folder, version, e);
}

// Also a file that waits for its release.
static bool is_there(const struct publish *p)
{
	struct place_info info;
	struct err unseen = ERR_INIT;
	return place_stat(p->open, p->filename, &info, &unseen) > 0;
}

// Its yank and its time.
static int put_past_beside(struct publish *p, struct catalog *c, enum mark mark, const char *text, struct err *e)
{
	if (!p->has_past || !text)
		return 0;
	CLEANUP(mem_free) char *name = xasprintf("%s%s", p->filename, sidecar_ending[mark]);
	if (sidecar_write(p->open, p->filename, mark, str_from(text), e) < 0 ||
		volume_release_want(catalog_path(c), p->platform, p->folder, name, e) < 0)
		return err_prefix(e, "%s: ", p->filename);
	return 0;
}

static int put_marks_beside(struct publish *p, struct catalog *c, struct err *e)
{
	return put_past_beside(p, c, MARK_YANKED, p->past.yanked, e) < 0 ||
			       put_past_beside(p, c, MARK_TIME, p->past.time, e) < 0
		       ? -1
		       : 0;
}

static void take_marks_away(const struct publish *p)
{
	struct err why = ERR_INIT;
	if ((p->past.yanked && sidecar_remove(p->open, p->filename, MARK_YANKED, &why) < 0) ||
		(p->past.time && sidecar_remove(p->open, p->filename, MARK_TIME, &why) < 0))
		log_error("%s: its marks stay: %s", p->platform->is_private ? "a file of a private platform" : p->filename,
			why.msg);
}

// The process that linked the file may have died before it synced it.
static int make_sure(const struct publish *p, struct place_file *file, const char *folder, struct err *e)
{
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(p->platform->written, folder, e);
	if (!open || place_sync(open, e) < 0 || place_file_sync(file, e) < 0)
		return err_prefix(e, "%s: ", p->filename);
	return 0;
}

// Puts the attachments beside the file, in the open folder.
static int put_attachments(struct publish *p, struct catalog *c, struct place_folder *open, const char *folder,
	struct err *e)
{
	if (publish_attach_finish(&p->attach, open, p->filename, e) < 0)
		return err_prefix(e, "%s is there, but not its provenance: ", p->filename);
	return publish_attach_record(&p->attach, p->platform, c, folder, p->filename, e);
}

// The same for a file that was published before. One with other bytes keeps what it has.
static int attach_to_published(struct publish *p, struct catalog *c, const char *folder,
	const struct publish_receipt *out, struct err *e)
{
	if (out->result == PUBLISH_EQUAL)
		return 0;
	CLEANUP(place_folder_close) struct place_folder *open = place_open_folder(p->platform->written, folder, e);
	int put = !open || publish_attach_prepare(&p->attach, open, p->filename, false, e) < 0
			  ? -1
			  : put_attachments(p, c, open, folder, e);
	publish_attach_release(&p->attach); // its unfinished files are in this folder
	return put;
}

// The file exists and stays; the client is told that it was published before. If it is not listed, the process that
// linked it may have died before it wrote the catalog.
static int accept_published(struct publish *p, struct catalog *c, struct place_file *file, const char *folder,
	bool is_listed, struct publish_receipt *out, struct err *e)
{
	struct place_info info;
	if (compare_published(p, file, out, e) < 0 || make_sure(p, file, folder, e) < 0)
		return -1;
	const bool is_alien = !p->has_past || is_listed || out->result == PUBLISH_EQUAL;
	const struct file_past *past = is_alien ? NULL : &p->past;
	if (past && put_marks_beside(p, c, e) < 0)
		return -1;
	if (place_file_info(file, &info, e) < 0)
		return err_prefix(e, "%s: ", p->filename);
	out->is_listed = is_listed || !store_is_split(p->platform);
	if (!is_listed && volume_release_want(catalog_path(c), p->platform, folder, p->filename, e) < 0)
		return -1;
	if (attach_to_published(p, c, folder, out, e) < 0)
		return -1;
	return record_file(p, c, out->result == PUBLISH_EQUAL ? &p->competitor : &p->facts, past, folder, &info.version, e);
}

// Opens what has the name now, which may be a folder, a pipe or a dangling link.
static struct place_file *open_named(struct publish *p, struct place_info *info, struct err *e)
{
	struct err why = ERR_INIT, unseen = ERR_INIT;
	CLEANUP(place_file_close) struct place_file *file = place_open_in(p->open, p->filename, &why);
	bool is_seen = file ? place_file_info(file, info, &why) == 0
			    : place_stat(p->open, p->filename, info, &unseen) > 0;
	if (is_seen && info->kind != PLACE_FILE)
		err_set(e, ERR_INVALID, "%s: the name is taken by something that is not a file", p->filename);
	else if (!file || !is_seen)
		*e = why;
	else
		return STEAL_PTR(file);
	return NULL;
}

// The name was removed after the check, and the removal may not have seen the file. No other upload can have linked
// one: it would have failed the same check.
static void withdraw_name(struct publish *p)
{
	struct err e = ERR_INIT;
	publish_attach_withdraw(&p->attach, p->open, p->filename);
	if (place_remove(p->open, p->filename, NULL, &e) < 0)
		err_prefix(&e, "cannot delete it again: ");
	if (e.kind != ERR_NONE || place_sync(p->open, &e) < 0)
		log_error("%s: %s", p->platform->is_private ? "a file of a private platform" : p->filename, e.msg);
}

// Links the file under its name, unless another file has it.
static int link_file(struct publish *p, struct catalog *c, struct publish_receipt *out, struct err *e)
{
	struct place_info info;
	struct err taken = ERR_INIT;
	// A yanked file has its mark before its name, which nothing has yet.
	bool marks = p->has_past && (p->past.yanked || p->past.time) && !is_there(p);
	if (publish_attach_prepare(&p->attach, p->open, p->filename, false, e) < 0 ||
		(marks && put_marks_beside(p, c, e) < 0))
		return -1;
	if (place_put_new(p->write, &taken) < 0) {
		if (marks)
			take_marks_away(p);
		if (taken.kind != ERR_CONFLICT) {
			*e = taken;
			return -1;
		}
	}
	place_write_free(&p->write);
	CLEANUP(place_file_close) struct place_file *file = open_named(p, &info, e);
	if (!file)
		return -1;
	if (taken.kind == ERR_CONFLICT)
		return accept_published(p, c, file, p->folder, false, out, e);
	p->made = 0;
	if (place_sync(p->open, e) < 0)
		return err_prefix(e, "%s: ", p->filename);
	out->result = PUBLISH_NEW;
	out->is_listed = !store_is_split(p->platform);
	memcpy(out->sha256, p->facts.sha256, SHA256_SIZE);
	if (volume_release_want(catalog_path(c), p->platform, p->folder, p->filename, e) < 0 ||
		put_attachments(p, c, p->open, p->folder, e) < 0)
		return -1;
	int recorded = record_file(p, c, &p->facts, p->has_past ? &p->past : NULL, p->folder, &info.version, e);
	if (recorded < 0 && e->kind == ERR_DENIED)
		withdraw_name(p);
	return recorded;
}

static int check_new_file(struct publish *p, struct catalog *c, const struct upload_policy *upload_policy,
	struct err *e)
{
	if (upload_policy_check(upload_policy, c, p->platform, &p->facts, clock_wall_seconds(), e) < 0)
		return -1;
	p->is_refused = p->verdict.kind != ERR_NONE;
	if (!p->is_refused)
		return 0;
	*e = p->verdict;
	return -1;
}

// A sidecar has the time that the place does not keep.
static int keep_time(struct publish *p, const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	int kept = p->has_past ? place_write_time(p->write, p->past.modified, e) : 1;
	if (kept)
		return kept < 0 ? -1 : 0;
	mark_time_write(p->past.modified / 1000000000, sha256, p->time);
	p->past.time = p->time;
	return 0;
}

int publish_end(struct publish *p, struct catalog *c, const struct declared *claims,
	const struct upload_policy *upload_policy, struct publish_receipt *out, struct err *e)
{
	CLEANUP(place_file_close) struct place_file *file = NULL;
	CLEANUP(mem_free) char *folder = NULL;
	CLEANUP(freeze_leave) struct freeze_hold hold = {0};
	p->ingest = ingest_new();
	struct digest_value hash[DIGEST_COUNT];
	multi_digest_end(p->hashes, hash);
	if (declared_check_bytes(claims, hash, e) < 0)
		return -1;
	if (keep_time(p, hash[DIGEST_SHA256].bytes, e) < 0 ||
		ingest_read(p->ingest, place_write_file(p->write), p->filename, p->strictness, &p->facts, e) < 0)
		return err_prefix(e, "%s: ", p->filename);
	if (p->facts.refusal)
		return err_set(e, ERR_INVALID, "%s: %s", p->filename, p->facts.refusal);
	if (memcmp(hash[DIGEST_SHA256].bytes, p->facts.sha256, SHA256_SIZE) != 0)
		return err_set(e, ERR_IO, "%s: the bytes on the disk differ from those received", p->filename);
	if (strcmp(p->facts.name.project, p->project) != 0)
		return err_set(e, ERR_INVALID,
			"%s: it is of the project %s; the field \"name\" must come before it and say so", p->filename,
			p->facts.name.project);
	if (p->strictness == STRICT && !profile_admits(&p->platform->profile, &p->facts.name, e))
		return err_prefix(e, "%s: ", p->filename);
	if (declared_check_name(claims, str_from(p->filename), &p->facts.name, e) < 0 ||
		publish_attach_check(&p->attach, p->filename, p->facts.sha256, e) < 0 || look_inside(p, e) < 0)
		return -1;
	// The name may have been removed since publish_begin.
	if (enter_step(p, &hold, e) < 0 || target_dir_check(p->platform, c, p->open, p->filename, e) < 0)
		return -1;
	int found = open_listed(p, c, &file, &folder, e);
	if (found < 0)
		return -1;
	if (!found && !is_there(p) && check_new_file(p, c, upload_policy, e) < 0)
		return -1;
	return found ? accept_published(p, c, file, folder, true, out, e) : link_file(p, c, out, e);
}
