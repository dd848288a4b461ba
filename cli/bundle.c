// SPDX-License-Identifier: Apache-2.0
// Bundles (bundler/bundle.h): bundle make, load.
#include <inttypes.h>
#include <string.h>

#include "bundler/bundle-load.h"
#include "bundler/bundle-make.h"
#include "cli/common/command.h"
#include "cli/common/progress.h"
#include "lib/audit/wheel-gate.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/domain/machine/platform.h"
#include "lib/format/escape.h"
#include "lib/os/fs.h"
#include "lib/state/config/state-files.h"

struct bundle_command {
	struct session s;
	struct session_list views, mirrors, locks, trusted, renamed;
	struct session_list osv; // of make
	const char *since, *key, *osv_folder;
	bool takes_private, is_unsigned, is_strict;
	uint64_t all_files, all_bytes; // of a load
	struct progress progress;
};

// A private key is read as our own files are not: the operator names it.
static int read_pem(const char *option, const char *path, struct buf *out, struct err *e)
{
	if (fs_read_regular(path, out, e) < 0)
		return err_prefix(e, "%s: ", option);
	return 0;
}

static const char *bytes_text(struct session *s, uint64_t bytes)
{
	char text[PROGRESS_TEXT];
	progress_bytes((double)bytes, text);
	return arena_copy(&s->arena, str_from(text));
}

// --- make ---

static void progress_of_making(void *ctx, uint64_t files, uint64_t all_files, uint64_t bytes, uint64_t all_bytes)
{
	progress_push(ctx, files, all_files, bytes, all_bytes);
}

static void put_made(struct bundle_command *x, const struct bundle_made *made, bool is_signed)
{
	struct session *s = &x->s;
	if (s->is_json) {
		session_json(s, jsondoc_new("bundle:s files:d bytes:d omitted:d generations:d size:d signed:b",
					s->output, (int64_t)made->files, (int64_t)made->bytes, (int64_t)made->omitted,
					(int64_t)made->members, (int64_t)made->size, is_signed));
		return;
	}
	if (s->is_quiet)
		return;
	buf_printf(&s->out, "%s: %s, %s", s->output, COUNTED(made->files, "file|files"), bytes_text(s, made->bytes));
	if (x->since)
		buf_printf(&s->out, "; %s of %s left out", COUNTED(made->omitted, "file|files"), x->since);
	if (made->members)
		buf_printf(&s->out, "; %s", COUNTED(made->members, "generation|generations"));
	buf_printf(&s->out, "; %s, %s\n", bytes_text(s, made->size), is_signed ? "signed" : "not signed");
}

static int make_bundle(struct bundle_command *x, struct str key, struct err *e)
{
	struct session *s = &x->s;
	struct bundle_made made;
	CLEANUP(mem_free) char *audit = state_file(&s->config, s->catalog_path, STATE_FILE_AUDIT);
	const struct bundle_making making = {.site = &s->site,
		.catalog = s->catalog,
		.audit_path = audit,
		.view = x->views.item,
		.views = x->views.count,
		.mirror = x->mirrors.item,
		.mirrors = x->mirrors.count,
		.lock = x->locks.item,
		.locks = x->locks.count,
		.osv = x->osv.item,
		.osvs = x->osv.count,
		.takes_private = x->takes_private,
		.since = x->since,
		.by = session_account(s),
		.key = key,
		.path = s->output,
		.progress = progress_of_making,
		.ctx = &x->progress};
	progress_begin(&x->progress, !s->is_quiet);
	int result = bundle_make(&making, &made, e);
	progress_end(&x->progress);
	if (result == 0)
		put_made(x, &made, key.len > 0);
	return result;
}

static int run_bundle_make(void *self, struct err *e)
{
	struct bundle_command *x = self;
	struct session *s = &x->s;
	CLEANUP(buf_release) struct buf key = buf_up_to(LIMIT_PEM);
	if (s->words)
		return err_set(e, ERR_USAGE, "%s: bundle make takes no word; -o FILE names the bundle", s->word[0]);
	if (!s->output)
		return err_set(e, ERR_USAGE, "-o FILE is missing: the bundle");
	if (!x->views.count && !x->mirrors.count && !x->locks.count && !x->osv.count)
		return err_set(e, ERR_USAGE,
			"--view NAME, --mirror NAME or --lock FILE is missing: what is to be in the bundle");
	if (x->key && read_pem("--key", x->key, &key, e) < 0)
		return -1;
	return session_open(s, SESSION_VIEWS, e) < 0 ? -1 : make_bundle(x, buf_view(&key), e);
}

static const struct option_row make_options[] = {
	{"view", '\0', "NAME...", "what these views or platforms show", LIST(bundle_command, views)},
	{"mirror", '\0', "NAME...", "what these mirrors keep of upstreams", LIST(bundle_command, mirrors)},
	{"lock", '\0', "FILE...", "the files of the store that these lock files name", LIST(bundle_command, locks)},
	{"osv", '\0', "FILE...", "these records of the OSV database", LIST(bundle_command, osv)},
	{"private", '\0', NULL, "also of private platforms", FLAG(bundle_command, takes_private)},
	{"since", '\0', "FILE", "leave out what this bundle, or its manifest, has", TEXT(bundle_command, since)},
	{"key", '\0', "FILE", "sign with this private key (PEM, Ed25519)", TEXT(bundle_command, key)},
};

static const struct command command_bundle_make = {
	.name = "bundle make",
	.help = "put files with their history into one file",
	OPTIONS(make_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(OUTPUT) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct bundle_command),
	.run = run_bundle_make,
};

// --- load ---

static void progress_of_load(void *ctx, uint64_t files, uint64_t bytes)
{
	struct bundle_command *x = ctx;
	progress_push(&x->progress, files, x->all_files, bytes, x->all_bytes);
}

// "OLD=NEW".
static int read_renames(struct bundle_command *x, struct bundle_renames *out, struct err *e)
{
	struct session *s = &x->s;
	struct bundle_rename *item = ARENA_NEW(&s->arena, struct bundle_rename, x->renamed.count);
	for (size_t i = 0; i < x->renamed.count; i++) {
		struct str to = str_from(x->renamed.item[i]), from = str_cut(&to, '=');
		if (!to.ptr || !platform_name_is_valid(from) || !platform_name_is_valid(to))
			return err_set(e, ERR_USAGE, "--platform %s: expected OLD=NEW, two names of platforms",
				x->renamed.item[i]);
		item[i] = (struct bundle_rename){arena_copy(&s->arena, from), arena_copy(&s->arena, to)};
	}
	*out = (struct bundle_renames){item, x->renamed.count};
	return 0;
}

static int check_trust(const struct bundle_command *x, const struct bundle_in *in, const char *path, struct err *e)
{
	const bool is_signed = bundle_in_is_signed(in);
	if (!x->trusted.count && is_signed)
		return err_set(e, ERR_DENIED, "%s is signed: --trust KEY.pem names who may have signed it", path);
	if (!x->trusted.count)
		return x->is_unsigned
			       ? 0
			       : err_set(e, ERR_DENIED, "%s is not signed; --unsigned loads it nevertheless", path);
	if (!is_signed)
		return err_set(e, ERR_DENIED, "%s is not signed, and --trust demands it", path);
	for (size_t i = 0; i < x->trusted.count; i++) {
		CLEANUP(buf_release) struct buf pem = buf_up_to(LIMIT_PEM);
		int is_by = read_pem("--trust", x->trusted.item[i], &pem, e) < 0
				    ? -1
				    : bundle_in_check_key(in, buf_view(&pem), e);
		if (is_by)
			return is_by > 0 ? 0 : err_prefix(e, "%s: ", x->trusted.item[i]);
	}
	return err_set(e, ERR_DENIED, "%s is signed by another key than those of --trust", path);
}

static void put_notes(struct session *s, const struct bundle_loaded *l)
{
	for (size_t i = 0; i < l->notes; i++) {
		const struct bundle_note *n = &l->note[i];
		if (s->rows)
			jsondoc_add(s->rows, jsondoc_new("result:s platform:s name:s why:k",
						     bundle_outcome_name[n->outcome], n->platform, n->name, n->why));
		else
			escape_terminal_line(&s->out, "  %-12s %s/%s%s%s", bundle_outcome_name[n->outcome], n->platform,
				n->name, n->why ? ": " : "", n->why ? n->why : "");
	}
}

static void put_loaded(struct bundle_command *x, const struct bundle_loaded *l, const char *path)
{
	struct session *s = &x->s;
	const char *separator = ": ";
	if (!s->is_quiet || s->is_json)
		put_notes(s, l);
	if (s->is_json) {
		struct jsondoc *doc = jsondoc_new("bundle:s dry_run:b bytes:d", path, s->is_dry_run, (int64_t)l->bytes);
		for (int i = 0; i < BUNDLE_OUTCOME_COUNT; i++)
			jsondoc_put_int(doc, bundle_outcome_name[i], (int64_t)l->files[i]);
		session_json_rows(s, doc, "files");
		return;
	}
	if (s->is_quiet)
		return;
	buf_puts(&s->out, path);
	for (int i = 0; i < BUNDLE_OUTCOME_COUNT; i++) {
		if (!l->files[i] && i != BUNDLE_STORED)
			continue;
		buf_printf(&s->out, "%s%" PRIu64 " %s", separator, l->files[i], bundle_outcome_name[i]);
		if (i == BUNDLE_STORED)
			buf_printf(&s->out, " (%s)", bytes_text(s, l->bytes));
		separator = ", ";
	}
	buf_puts(&s->out, s->is_dry_run ? "; nothing was changed\n" : "\n");
}

// The change is made first: a line of one that failed says so.
static int log_load(struct session *s, const struct bundle_loaded *l, int result, struct err *e)
{
	struct err unwritten = ERR_INIT;
	const struct audit_entry entry = {.who = session_account(s),
		.action = "bundle load",
		.result = result < 0 ? "failed" : "done",
		.reason = result < 0 ? e->msg
				     : arena_printf(&s->arena, "%s: %s", s->word[0],
					       COUNTED(l->files[BUNDLE_STORED], "file|files"))};
	int written = audit_write(s->audit, &entry, result < 0 ? &unwritten : e);
	return result < 0 || written < 0 ? -1 : 0;
}

static int store_bundle(struct bundle_command *x, struct bundle_in *in, const struct bundle_loading *l,
	struct bundle_loaded *out, struct err *e)
{
	struct session *s = &x->s;
	progress_begin(&x->progress, !s->is_quiet);
	int result = bundle_load_run(in, l, out, e);
	progress_end(&x->progress);
	result = log_load(s, out, result, e);
	for (size_t i = 0; i < s->store.platform_count; i++) {
		struct err why = ERR_INIT;
		int released = session_release_volume(s, &s->store.platform[i], "loaded", "a bundle", &why);
		if (released < 0 && result == 0)
			*e = why;
		result = released < 0 ? -1 : result;
	}
	return result;
}

static int read_policies(struct bundle_command *x, struct bundle_loading *l, struct err *e)
{
	return x->is_strict && (wheel_gate_new(&x->s.config, &l->gate, e) < 0 ||
				       upload_policy_new(&x->s.config, &l->policy, e) < 0)
		       ? -1
		       : 0;
}

static int load_bundle(struct bundle_command *x, struct bundle_in *in, struct bundle_loading *l, const char *path,
	struct err *e)
{
	struct session *s = &x->s;
	CLEANUP(bundle_loaded_release) struct bundle_loaded checked = {0}, loaded = {0};
	if (bundle_load_check(in, l, &checked, e) < 0)
		return err_advise(e, "nothing was loaded");
	for (int i = 0; i < BUNDLE_OUTCOME_COUNT; i++)
		x->all_files += checked.files[i];
	x->all_bytes = bundle_in_bytes(in);
	l->progress = progress_of_load;
	l->ctx = x;
	if (!s->is_dry_run && store_bundle(x, in, l, &loaded, e) < 0)
		return -1;
	const struct bundle_loaded *shown = s->is_dry_run ? &checked : &loaded;
	put_loaded(x, shown, path);
	return shown->files[BUNDLE_OTHER_BYTES] || shown->files[BUNDLE_REFUSED] ? 1 : 0;
}

static int run_bundle_load(void *self, struct err *e)
{
	struct bundle_command *x = self;
	struct session *s = &x->s;
	CLEANUP(bundle_in_cleanup) struct bundle_in *in = NULL;
	struct bundle_loading l = {.site = &s->site, .is_strict = x->is_strict, .osv = x->osv_folder};
	if (s->words != 1)
		return err_set(e, ERR_USAGE, "expected one FILE: a bundle");
	if (x->trusted.count && x->is_unsigned)
		return err_set(e, ERR_USAGE, "--trust and --unsigned exclude each other");
	if (read_renames(x, &l.renames, e) < 0)
		return -1;
	in = bundle_in_new(s->word[0], e);
	if (!in || check_trust(x, in, s->word[0], e) < 0 ||
		session_open(s, SESSION_VIEWS | (s->is_dry_run ? 0 : SESSION_MAKE | SESSION_AUDIT), e) < 0)
		return -1;
	l.catalog = s->catalog;
	l.audit = s->audit;
	l.by = session_account(s);
	l.takes_facts = s->config.takes_facts;
	int result = read_policies(x, &l, e) < 0 ? -1 : load_bundle(x, in, &l, s->word[0], e);
	wheel_gate_unref(l.gate);
	upload_policy_free(l.policy);
	return result;
}

static const struct option_row load_options[] = {
	{"trust", '\0', "FILE...", "only if one of these public keys (PEM, Ed25519) signed it",
		LIST(bundle_command, trusted)},
	{"unsigned", '\0', NULL, "also if nobody signed it", FLAG(bundle_command, is_unsigned)},
	{"platform", '\0', "OLD=NEW", "put the files of the platform OLD into NEW; may be repeated",
		LIST(bundle_command, renamed)},
	{"osv", '\0', "DIR", "put records of the OSV database into DIR", TEXT(bundle_command, osv_folder)},
	{"strict", '\0', NULL, "refuse a file as an upload of it would be", FLAG(bundle_command, is_strict)},
};

static const struct command command_bundle_load = {
	.name = "bundle load",
	.arguments = "FILE",
	.help = "load what bundle make wrote into this store",
	OPTIONS(load_options),
	.shared = SHARED_BASE | SHARED(STORE) | SHARED(DRY_RUN) | SHARED(JSON) | SHARED(QUIET),
	.size = sizeof(struct bundle_command),
	.run = run_bundle_load,
};

static const struct command *const bundle_rows[] = {&command_bundle_make, &command_bundle_load, NULL};

const struct command command_bundle = {
	.name = "bundle",
	.help = "carry files to where no network leads: make, load",
	.rows = bundle_rows,
};
