// SPDX-License-Identifier: Apache-2.0
#include "cli/prune/prune-common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/log.h"

static const struct setting_option keys[] = {
	{"catalog", "catalog", "path"},
	{"log-level", "server", "log-level"},
};

void errands_init(struct errands *x, const char *done, const char *would)
{
	*x = (struct errands){.done = done, .would = would, .errand = {.lock = -1}};
	config_init(&x->config);
}

void errands_release(struct errands *x)
{
	errand_release(&x->errand);
	audit_close(x->audit);
	catalog_close(x->catalog);
	store_release(&x->store);
	config_release(&x->config);
	free(x->glob);
	free(x->who);
}

int errands_take(struct errands *x, const char *name, const char *value, struct err *e)
{
	const struct command_flag flags[] = {{"dry-run", &x->is_dry}, {"quiet", &x->is_quiet}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name) ||
		settings_take(&x->settings, keys, ARRAY_SIZE(keys), name, value))
		return 0;
	if (strcmp(name, "platform") != 0)
		return err_set(e, ERR_USAGE, "--%s", name);
	GROW(x->glob, x->globs, x->glob_room);
	x->glob[x->globs++] = value;
	return 0;
}

static void tell(void *ctx, const struct platform *platform, const char *filename, enum errand_fate fate,
	uint64_t bytes UNUSED, const char *words)
{
	struct errands *x = ctx;
	const char *const word[ERRAND_FATE_COUNT] = {
		[ERRAND_DONE] = x->done,
		[ERRAND_WOULD] = x->would,
		[ERRAND_BEFORE] = "nothing to do for",
		[ERRAND_KEPT] = "kept",
		[ERRAND_GONE] = "gone:",
		[ERRAND_FAILED] = "failed:",
	};
	bool is_bad = fate == ERRAND_FAILED || fate == ERRAND_GONE;
	bool is_dull = fate == ERRAND_DONE || fate == ERRAND_BEFORE;
	if ((is_dull && !x->tells_each) || (x->is_quiet && !is_bad))
		return;
	progress_end(&x->progress);
	if (is_bad)
		log_error("%s: %s %s: %s", platform->name, word[fate], filename, words);
	else
		printf("%s: %s %s%s%s\n", platform->name, word[fate], filename, *words ? ": " : "", words);
}

int errands_open(struct errands *x, struct err *e)
{
	CLEANUP(mem_free) char *path = NULL;
	if (settings_read(&x->settings, &x->config, e) < 0 || !(path = settings_catalog(&x->config, e)) ||
		store_open(&x->config, STORE_PATIENT, &x->store, e) < 0)
		return -1;
	if (access(path, F_OK) < 0)
		return err_errno(e, ERR_NOT_FOUND, "catalog %s", path);
	if (settings_audit(&x->config, &x->audit, e) < 0 || catalog_open(path, &x->catalog, e) < 0 ||
		store_find(&x->store, x->catalog, e) < 0)
		return -1;
	x->who = audit_account();
	if (errand_begin(&x->errand, &x->store, x->catalog, x->audit, x->who, e) < 0)
		return -1;
	x->errand.tell = tell;
	x->errand.tell_ctx = x;
	progress_begin(&x->progress, !x->is_quiet);
	return 0;
}

void errands_sum_up(const struct errands *x)
{
	const char *const words[ERRAND_FATE_COUNT] = {
		[ERRAND_DONE] = x->done,
		[ERRAND_WOULD] = x->would,
		[ERRAND_BEFORE] = "so before",
		[ERRAND_KEPT] = "kept",
		[ERRAND_GONE] = "gone",
		[ERRAND_FAILED] = "failed",
	};
	const char *between = "";
	if (x->is_quiet || x->errand.lock < 0)
		return;
	for (size_t i = 0; i < ERRAND_FATE_COUNT; i++) {
		char size[PROGRESS_TEXT];
		if (!x->errand.count[i] && i != (x->is_dry ? ERRAND_WOULD : ERRAND_DONE))
			continue;
		progress_bytes((double)x->errand.bytes[i], size);
		printf("%s%" PRIu64 " file%s %s (%s)", between, x->errand.count[i], x->errand.count[i] == 1 ? "" : "s",
			words[i], size);
		between = ", ";
	}
	putchar('\n');
}
