// SPDX-License-Identifier: Apache-2.0
#include <stdio.h>
#include <unistd.h>

#include "cli/common/cli-config.h"
#include "cli/common/command.h"
#include "cli/common/serve-check.h"
#include "cli/doctor/doctor-client.h"
#include "cli/doctor/doctor-server.h"
#include "cli/doctor/doctor-service.h"
#include "cli/doctor/doctor-store.h"
#include "cli/doctor/doctor-unit.h"
#include "cli/doctor/doctor-writes.h"
#include "lib/base/limits.h"
#include "lib/base/log.h"
#include "lib/state/config/config-type.h"

enum { TIMEOUT_SECONDS = 20 };
#define CGROUPS "/sys/fs/cgroup"

static const struct option_row options[] = {
	{"client", '\0', "URL", "look from a client at the index of this URL, such as https://HOST/simple/", NO_KEY},
	{"project", '\0', "NAME", "with --client: also ask for this project, or one version: NAME==VERSION", NO_KEY},
	{"python", '\0', "PYTHON", "with --project: judge its files for this Python, such as 3.12 or a program", NO_KEY},
	{"check-config", '\0', NULL, "say only whether the server would start with this configuration", NO_KEY},
};

struct doctor_command {
	struct cli_config settings;
	struct config config;
	struct doctor_report report;
	struct doctor_client_options client;
	uint64_t timeout;
	bool checks_config; // and looks at nothing else
};

static int take_doctor_option(void *ctx, const char *name, const char *value, struct err *e)
{
	struct doctor_command *x = ctx;
	const struct command_text texts[] = {
		{"client", &x->client.url}, {"project", &x->client.project},
		{"python", &x->client.python}, {"ca-file", &x->client.ca_file}};
	const struct cli_config_number numbers[] = {{"timeout", &config_type_seconds, &x->timeout}};
	const struct command_flag flags[] = {{"check-config", &x->checks_config}};
	if (command_take_flag(flags, ARRAY_SIZE(flags), name))
		return 0;
	if (command_take_text(texts, ARRAY_SIZE(texts), name, value))
		return 0;
	return cli_config_take_number(numbers, ARRAY_SIZE(numbers), name, value, e);
}

static int check_doctor_line(struct doctor_command *x, struct err *e)
{
	if (!x->timeout)
		return err_set(e, ERR_USAGE, "--timeout is not 1 or more");
	if ((x->client.project || x->client.ca_file) && !x->client.url)
		return err_set(e, ERR_USAGE, "--%s is for --client URL", x->client.project ? "project" : "ca-file");
	if (x->client.python && !x->client.project)
		return err_set(e, ERR_USAGE, "--python is for --project NAME");
	if (x->checks_config && (x->client.url || x->settings.is_json))
		return err_set(e, ERR_USAGE, "--check-config is not for --%s", x->client.url ? "client" : "json");
	x->client.timeout = (unsigned)x->timeout;
	return 0;
}

static void report_configuration(struct doctor_report *r, const char *file)
{
	doctor_report_add(r, DOCTOR_FINE, "configuration", "", "%s", file ? file : "no file is given: the defaults");
}

static void look_at_account(struct doctor_report *r)
{
	if (geteuid() == 0)
		doctor_report_add(r, DOCTOR_WARNING, "account",
			"run it as the account of the service: runuser -u wheelcache -- wheelcache doctor",
			"root may read and write everything, so the rights of the service are not tried");
}

static void look_at_folders(struct doctor_report *r, const struct config *c)
{
	struct err e = ERR_INIT;
	CLEANUP(doctor_writes_release) struct doctor_writes writes = {0};
	CLEANUP(mem_free) char *catalog = cli_config_catalog(c, &e);
	doctor_store(r, c, catalog, &writes);
	if (catalog)
		doctor_state(r, c, catalog, &writes);
	else
		doctor_report_add(r, DOCTOR_WRONG, "catalog", "set [catalog] path", "%s", e.msg);
	doctor_writes_report(&writes, r);
	doctor_unit(r, &writes);
}

// A configuration that cannot be read is a row, and the rest is not looked at.
static void examine_server(struct doctor_command *x)
{
	struct err e = ERR_INIT;
	struct doctor_report *r = &x->report;
	if (cli_config_read(&x->settings, &x->config, &e) < 0) {
		doctor_report_add(r, DOCTOR_WRONG, "configuration", "correct this line: man wheelcache.conf", "%s",
			e.msg);
		return;
	}
	report_configuration(r, x->settings.file);
	look_at_account(r);
	look_at_folders(r, &x->config);
	doctor_clock(r);
	doctor_upstream(r, &x->config);
	doctor_certificate(r, &x->config);
	doctor_service(r, &x->config, CGROUPS);
}

static void log_warning(void *ctx UNUSED, const char *text)
{
	log_warn("%s", text);
}

// Says what `serve` would say, and has its exit code.
static int check_config(struct doctor_command *x, struct err *e)
{
	if (cli_config_read(&x->settings, &x->config, e) < 0 || serve_check(&x->config, log_warning, NULL, e) < 0)
		return err_exit_code(e->kind);
	return 0;
}

static int print_report_of(struct doctor_command *x, struct err *e)
{
	CLEANUP(buf_release) struct buf out;
	buf_init(&out, LIMIT_PAGE);
	if (x->settings.is_json) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *doc = doctor_report_json(&x->report);
		jsondoc_write(doc, 2, &out);
	} else {
		doctor_report_text(&x->report, x->settings.is_quiet, &out);
	}
	if (out.failed || fwrite(out.data, 1, out.len, stdout) != out.len || fflush(stdout) != 0)
		return err_errno(e, ERR_IO, "standard output");
	return 0;
}

static void doctor_command_release(struct doctor_command *x)
{
	config_release(&x->config);
	doctor_report_release(&x->report);
}

static int run_doctor(const struct command *self, int argc, char **argv, struct err *e)
{
	CLEANUP(doctor_command_release) struct doctor_command x = {.timeout = TIMEOUT_SECONDS};
	config_init(&x.config);
	doctor_report_init(&x.report);
	if (cli_config_take_line(&x.settings, self, argc, argv, take_doctor_option, &x, e) < 0 ||
		check_doctor_line(&x, e) < 0)
		return err_exit_code(e->kind);
	if (x.checks_config)
		return check_config(&x, e);
	if (x.client.url)
		doctor_client(&x.report, &x.client);
	else
		examine_server(&x);
	size_t wrong = x.report.count[DOCTOR_WRONG];
	return print_report_of(&x, e) < 0 ? err_exit_code(e->kind) : wrong ? 1 : 0;
}

const struct command command_doctor = {
	.name = "doctor",
	.arguments = "[STORE]",
	.help = "say what is wrong with a server, or between a client and it, and what to do",
	.options = options,
	.option_count = ARRAY_SIZE(options),
	.shared = SHARED_BASE | SHARED(CA_FILE) | SHARED(TIMEOUT) | SHARED(JSON) | SHARED(QUIET),
	.run = run_doctor,
};
