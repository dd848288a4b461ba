// SPDX-License-Identifier: Apache-2.0
#include "cli/prune/prune-common.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "lib/base/log.h"
#include "lib/view/site-check.h"

void prune_common_init(struct prune_common *x, const char *done, const char *would)
{
	*x = (struct prune_common){.done = done, .would = would, .operation = {.lock = -1}};
	config_init(&x->config);
}

void prune_common_release(struct prune_common *x)
{
	operation_release(&x->operation);
	audit_close(x->audit);
	catalog_close(x->catalog);
	store_release(&x->store);
	config_release(&x->config);
	command_words_release(&x->globs);
	free(x->who);
}

int prune_common_take(struct prune_common *x, const char *name, const char *value, struct err *e)
{
	return command_take_platforms(&x->globs, name, value, e);
}

static void report_event(void *ctx, const struct platform *platform, const char *filename, enum operation_result result,
	uint64_t bytes UNUSED, const char *words)
{
	struct prune_common *x = ctx;
	const char *const word[OPERATION_RESULT_COUNT] = {
		[OPERATION_DONE] = x->done,
		[OPERATION_WOULD] = x->would,
		[OPERATION_BEFORE] = "nothing to do for",
		[OPERATION_KEPT] = "kept",
		[OPERATION_GONE] = "gone:",
		[OPERATION_FAILED] = "failed:",
	};
	bool is_bad = result == OPERATION_FAILED || result == OPERATION_GONE;
	bool is_expected = result == OPERATION_DONE || result == OPERATION_BEFORE;
	if ((is_expected && !x->prints_each) || (x->settings.is_quiet && !is_bad))
		return;
	progress_end(&x->progress);
	if (is_bad)
		log_error("%s: %s %s: %s", platform->name, word[result], filename, words);
	else
		printf("%s: %s %s%s%s\n", platform->name, word[result], filename, *words ? ": " : "", words);
}

int prune_common_open(struct prune_common *x, struct err *e)
{
	CLEANUP(mem_free) char *path = NULL;
	if (cli_config_read(&x->settings, &x->config, e) < 0 || !(path = cli_config_catalog(&x->config, e)) ||
		store_open(&x->config, STORE_PATIENT, &x->store, e) < 0)
		return -1;
	if (access(path, F_OK) < 0)
		return err_set(e, ERR_NOT_FOUND, "there is no catalog %s; wheelcache index makes it", path);
	if (cli_config_audit(&x->config, &x->audit, e) < 0 || catalog_open(path, &x->catalog, e) < 0 ||
		site_check_find(&x->config, &x->store, x->catalog, e) < 0)
		return -1;
	x->who = audit_account();
	if (operation_begin(&x->operation, &x->store, x->catalog, x->audit, x->who, e) < 0)
		return -1;
	x->operation.report = report_event;
	x->operation.report_ctx = x;
	progress_begin(&x->progress, !x->settings.is_quiet);
	return 0;
}

void prune_common_sum_up(const struct prune_common *x)
{
	const char *const words[OPERATION_RESULT_COUNT] = {
		[OPERATION_DONE] = x->done,
		[OPERATION_WOULD] = x->would,
		[OPERATION_BEFORE] = "so before",
		[OPERATION_KEPT] = "kept",
		[OPERATION_GONE] = "gone",
		[OPERATION_FAILED] = "failed",
	};
	const char *between = "";
	if (x->settings.is_quiet || x->operation.lock < 0)
		return;
	for (size_t i = 0; i < OPERATION_RESULT_COUNT; i++) {
		char size[PROGRESS_TEXT];
		if (!x->operation.count[i] && i != (x->settings.is_dry_run ? OPERATION_WOULD : OPERATION_DONE))
			continue;
		progress_bytes((double)x->operation.bytes[i], size);
		printf("%s%" PRIu64 " file%s %s (%s)", between, x->operation.count[i],
			x->operation.count[i] == 1 ? "" : "s", words[i], size);
		between = ", ";
	}
	putchar('\n');
}
