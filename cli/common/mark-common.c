// SPDX-License-Identifier: Apache-2.0
#include "cli/common/mark-common.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/common/cli-config.h"
#include "cli/common/file-word.h"
#include "lib/base/mem.h"
#include "lib/domain/text/filename.h"
#include "lib/os/clock.h"
#include "lib/state/access/audit.h"
#include "lib/state/publish/file-select.h"
#include "lib/state/publish/marking.h"
#include "lib/state/store/release.h"
#include "lib/view/site-check.h"

const char mark_common_waits[] = "; the pages show it once its volume is released";

static int take_mark_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct mark_common *m = ctx;
	const struct command_flag flags[] = {{"delete", &m->deletes}, {"replace", &m->replaces}, {"force", &m->forces}};
	const struct command_text texts[] = {
		{"platform", &m->platform},
		{"reason", &m->reason},
		{"of", &m->of},
	};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return m->take_option ? m->take_option(m, name, value, e) : err_set(e, ERR_USAGE, "--%s", name);
}

static int take_mark_words(struct mark_common *m, const struct command *self, int argc, char **argv, struct err *e)
{
	int first = cli_config_options(&m->settings, self, argc, argv, take_mark_option, m, e);
	if (first < 0)
		return -1;
	if (first == argc)
		return err_set(e, ERR_USAGE, "no FILE is given: the name or the path of a wheel or an sdist");
	if (argc - first > 2)
		return err_set(e, ERR_USAGE, "expected one FILE and at most one STORE, not also %s", argv[first + 2]);
	m->word = m->file = argv[first];
	if (argc - first == 2)
		cli_config_take_store(&m->settings, argv[first + 1]);
	if (m->take_file && m->take_file(m, argv[first], e) < 0)
		return -1;
	if (m->take_file)
		m->word = m->file;
	m->selects = !m->take_file && file_select_is(m->word);
	if (!m->selects && !file_word_fits(m->word))
		return err_set(e, ERR_USAGE,
			"%s is not the name of a wheel or an sdist, or its path; wheelcache explain PROJECT lists the files",
			m->word);
	if (m->needs_reason && !m->reason)
		return err_set(e, ERR_USAGE, "--reason TEXT is missing: clients and the audit log show it");
	return 0;
}

static int call_mark(void *ctx, const struct platform *p, struct catalog *c, struct err *e)
{
	const struct mark_common *m = *(const struct mark_common *const *)ctx;
	return m->mark(m, p, c, e);
}

int mark_common_file(const struct mark_common *m, const struct platform *p, struct catalog *c, struct audit *audit,
	struct err *e)
{
	const struct marking marking = {
		.action = m->action, .reason = m->reason, .who = m->who, .mark = call_mark, .ctx = &m};
	return marking_file(&marking, m->file, p, c, audit, e);
}

// Runs the release command of the platform at once, since no server may be running. If it fails, a running server
// tries it again.
int mark_common_release(const struct mark_common *m, const struct platform *p, struct catalog *c, struct audit *audit,
	struct err *e)
{
	if (!p->release)
		return 0;
	const _Atomic int64_t end_ms = clock_ms() + (int64_t)p->release_timeout * 1000;
	int released = release_run(catalog_path(c), p, &end_ms, true, e);
	if (released == 0)
		return 0; // a server has released it
	const struct audit_entry entry = {.who = m->who,
		.action = "release",
		.platform = p->name,
		.result = released < 0 ? "failed" : "done",
		.reason = released < 0 ? e->msg : NULL};
	struct err unwritten = ERR_INIT;
	int written = audit_write(audit, &entry, released < 0 ? &unwritten : e);
	if (released < 0)
		err_prefix(e, "platform %s: %s %s, but it is not released: ", p->name, m->done, m->file);
	return released < 0 || written < 0 ? -1 : 0;
}

static void report_marked(const struct mark_common *m, const struct platform *p)
{
	bool waits = store_is_split(p) && !p->release;
	printf("%s: %s %s%s\n", p->name, m->done, m->file,
		waits ? mark_common_waits : "");
}

// Names the command that lists the project's files. platform NULL: it was looked for on all.
static int refuse_marked_file(const struct mark_common *m, const char *platform, struct err *e)
{
	struct err ignored = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	if (platform)
		err_set(e, ERR_NOT_FOUND, "platform %s has no file %s", platform, m->file);
	else
		err_set(e, ERR_NOT_FOUND, "no platform has a file %s", m->file);
	if (filename_parse(str_from(m->file), &name, &ignored) == 0)
		err_advise(e, "wheelcache explain %s lists the files of the project", name.project);
	return -1;
}

static bool is_wanted_platform(const struct mark_common *m, const struct file_word *word, const struct platform *p)
{
	return (!m->platform || strcmp(p->name, m->platform) == 0) && file_word_is_on(word, p);
}

static int check_marks(const struct mark_common *m, const struct config *config, const struct file_word *word,
	const struct store *store, struct catalog *c, struct err *e)
{
	for (size_t i = 0; i < store->platform_count && m->check; i++) {
		const struct platform *p = &store->platform[i];
		if (p->id && is_wanted_platform(m, word, p) && m->check(m, config, p, c, e) < 0)
			return -1;
	}
	return 0;
}

// A failure on one platform does not stop the others. *e is the last error.
static int mark_all(const struct mark_common *m, const struct file_word *word, const struct store *store,
	struct catalog *c, struct audit *audit, struct err *e)
{
	size_t found = 0;
	int result = 0;
	for (size_t i = 0; i < store->platform_count; i++) {
		struct err why = ERR_INIT;
		const struct platform *p = &store->platform[i];
		if (!is_wanted_platform(m, word, p))
			continue;
		int marked = p->id ? mark_common_file(m, p, c, audit, &why)
				   : err_set(&why, ERR_NOT_FOUND, "not in the catalog");
		if (marked < 0 && why.kind == ERR_NOT_FOUND)
			continue;
		found++;
		if (marked < 0 || mark_common_release(m, p, c, audit, &why) < 0) {
			*e = why;
			result = -1;
		} else if (!m->settings.is_quiet) {
			report_marked(m, p);
		}
	}
	const char *wanted = m->platform ? m->platform : word->platform ? word->platform->name : NULL;
	return found ? result : refuse_marked_file(m, wanted, e);
}

// Every file is checked before the first one is marked.
static int mark_selected(struct mark_common *m, const struct config *config, const struct store *store,
	struct catalog *c, struct audit *audit, struct err *e)
{
	CLEANUP(strset_release) struct strset names = {0};
	const struct file_word any = {.name = m->word};
	int result = 0;
	if (file_select_names(m->word, store, m->platform, c, &names, e) < 0)
		return -1;
	for (size_t i = 0; i < names.count; i++) {
		m->file = names.item[i];
		if (check_marks(m, config, &any, store, c, e) < 0)
			return -1;
	}
	for (size_t i = 0; i < names.count; i++) {
		struct err why = ERR_INIT;
		m->file = names.item[i];
		if (mark_all(m, &any, store, c, audit, &why) < 0) {
			*e = why;
			result = -1;
		}
	}
	m->file = m->word;
	return result;
}

static int open_and_mark(struct mark_common *m, const struct config *config, struct err *e)
{
	CLEANUP(store_release) struct store store = {0};
	CLEANUP(catalog_cleanup) struct catalog *catalog = NULL;
	CLEANUP(audit_cleanup) struct audit *audit = NULL;
	CLEANUP(file_word_release) struct file_word word = {0};
	CLEANUP(mem_free) char *path = cli_config_catalog(config, e);
	if (!path || store_open(config, STORE_PATIENT, &store, e) < 0 ||
		(!m->selects && file_word_read(m->word, &store, &word, e) < 0))
		return -1;
	m->file = m->selects ? m->word : word.name;
	if (m->platform && !store_platform_named(&store, str_from(m->platform)))
		return store_refuse_platform(&store, m->platform, ERR_NOT_FOUND, e);
	if (access(path, F_OK) < 0)
		return err_set(e, ERR_NOT_FOUND, "there is no catalog %s; wheelcache index makes it", path);
	if (cli_config_audit(config, &audit, e) < 0 || catalog_open(path, &catalog, e) < 0 ||
		site_check_find(config, &store, catalog, e) < 0)
		return -1;
	if (m->selects)
		return mark_selected(m, config, &store, catalog, audit, e);
	if (file_word_check(&word, catalog, e) < 0 || check_marks(m, config, &word, &store, catalog, e) < 0)
		return -1;
	return mark_all(m, &word, &store, catalog, audit, e);
}

int mark_common_run(struct mark_common *m, const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(config_release) struct config config;
	config_init(&config);
	CLEANUP(mem_free) char *who = audit_account();
	m->who = who;
	if (take_mark_words(m, self, argc, argv, e) < 0)
		return err_exit_code(e->kind);
	int elsewhere = m->do_elsewhere ? m->do_elsewhere(m, e) : 0;
	if (elsewhere < 0 || (!elsewhere && (cli_config_read(&m->settings, &config, e) < 0 ||
						    open_and_mark(m, &config, e) < 0)))
		return err_exit_code(e->kind);
	return 0;
}
