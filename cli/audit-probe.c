// SPDX-License-Identifier: Apache-2.0
#include "cli/audit-probe.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "builder/probe/probe.h"
#include "lib/domain/machine/environment.h"
#include "lib/state/config/config-type.h"

static atomic_bool is_stopped;

bool audit_probe_take(struct audit_probe *x, const char *name, const char *value)
{
	const struct command_text texts[] = {{"bind", &x->module}, {"cpu", &x->cpu}, {"mode", &x->mode},
		{"python", &x->python}, {"timeout", &x->timeout}};
	const struct {
		const char *name;
		struct command_words *words;
	} lists[] = {{"preload", &x->preload}, {"expect", &x->expect}, {"needed", &x->needed}, {"env", &x->variable},
		{"skip", &x->skip}};
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return true;
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
		if (strcmp(name, lists[i].name) == 0) {
			command_words_add(lists[i].words, value);
			return true;
		}
	return false;
}

bool audit_probe_is_wanted(const struct audit_probe *x)
{
	return x->module || x->cpu || x->mode || x->python || x->timeout || x->preload.count || x->expect.count ||
	       x->needed.count || x->variable.count || x->skip.count;
}

static int check_probe_options(const struct audit_probe *x, struct err *e)
{
	bool has_more = x->mode || x->preload.count || x->expect.count || x->needed.count;
	if (!x->cpu && x->skip.count)
		return err_set(e, ERR_USAGE, "--skip needs --cpu");
	if (x->module && x->cpu)
		return err_set(e, ERR_USAGE, "--bind and --cpu exclude each other");
	if (!x->module && has_more)
		return err_set(e, ERR_USAGE, "--preload, --expect, --needed and --mode need --bind");
	if (!x->module && !x->cpu)
		return err_set(e, ERR_USAGE, "--python, --env and --timeout need --bind or --cpu");
	return 0;
}

// The loader's own variables are ours: without them nothing is reported.
static int check_variables(const struct command_words *w, struct err *e)
{
	for (size_t i = 0; i < w->count; i++) {
		struct str value = str_from(w->item[i]), name = str_cut(&value, '=');
		if (!probe_is_variable(w->item[i]))
			return err_set(e, ERR_USAGE, "--env: \"%s\" is not NAME=VALUE", w->item[i]);
		if (str_eq(name, STR("LD_DEBUG")) || str_eq(name, STR("LD_DEBUG_OUTPUT")))
			return err_set(e, ERR_USAGE, "--env: " STR_FMT " is set by --bind itself", STR_ARG(name));
	}
	return 0;
}

// A version is looked up in PATH: "3.12" is python3.12.
static int find_interpreter(struct audit_probe *x, struct err *e)
{
	struct python p;
	if (!x->python)
		return 0;
	if (strchr(x->python, '/'))
		return (x->interpreter = probe_path(x->python, e)) ? 0 : err_prefix(e, "--python: ");
	if (python_parse(str_from(x->python), &p, e) < 0) {
		e->kind = ERR_USAGE;
		return err_prefix(e, "--python: ");
	}
	CLEANUP(mem_free)
	char *name =
		xasprintf("%s%u.%u%s", p.is_pypy ? "pypy" : "python", p.major, p.minor, p.is_free_threaded ? "t" : "");
	x->interpreter = probe_find_program(name, true);
	return x->interpreter ? 0 : err_set(e, ERR_USAGE, "--python: there is no %s in PATH", name);
}

static int take_timeout(struct audit_probe *x, uint64_t seconds, struct err *e)
{
	x->seconds = seconds;
	if (x->timeout && (!config_type_seconds.set(&x->seconds, x->timeout) || !x->seconds))
		return err_set(e, ERR_USAGE, "--timeout: \"%s\" is not %s above 0", x->timeout,
			config_type_seconds.wants);
	return 0;
}

// The first signal ends the foreign program and removes the scratch folder, the second one ends us at once.
static void take_stop(int number UNUSED)
{
	atomic_store(&is_stopped, true);
}

static void take_stop_signals(struct audit_probe *x)
{
	struct sigaction action = {.sa_handler = take_stop, .sa_flags = (int)(SA_RESETHAND | SA_RESTART)};
	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	x->stop = &is_stopped;
}

int audit_probe_prepare(struct audit_probe *x, uint64_t seconds, struct err *e)
{
	if (check_probe_options(x, e) < 0 || check_variables(&x->variable, e) < 0 || find_interpreter(x, e) < 0 ||
		take_timeout(x, seconds, e) < 0)
		return -1;
	take_stop_signals(x);
	return 0;
}

void audit_probe_release(struct audit_probe *x)
{
	command_words_release(&x->preload);
	command_words_release(&x->expect);
	command_words_release(&x->needed);
	command_words_release(&x->variable);
	command_words_release(&x->skip);
	free(x->interpreter);
	*x = (struct audit_probe){0};
}
