// SPDX-License-Identifier: Apache-2.0
#include "builder/step/attempt.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>

#include "builder/run/run-log.h"
#include "builder/step/build-facts.h"
#include "builder/step/build-statement.h"
#include "builder/step/built-wheel.h"
#include "builder/step/log-reason.h"
#include "builder/step/sdist-fetch.h"
#include "builder/step/sandbox.h"
#include "builder/step/top-modules.h"
#include "lib/base/limits.h"
#include "lib/base/mem.h"
#include "lib/domain/text/name.h"
#include "lib/os/clock.h"
#include "lib/os/fs.h"

// --- the build tag ---
//
// Gives a built wheel a build tag (PEP 427), so that installers prefer it to one of the same version that no longer
// works. Not every build backend can be asked for one, so the wheel is written anew: its name, Build in WHEEL, and the
// hash of WHEEL in RECORD change; the bytes, times and modes of all other members stay. One thread at a time.

static const char script_head[] = "number = '";
static const char script_rest[] =
	"'\n"
	"import base64, csv, hashlib, io, os, shutil, sys, zipfile\n"
	"folder, name = os.path.split(sys.argv[2])\n"
	"parts = name[:-len('.whl')].split('-')\n"
	"renamed = '-'.join(parts[:2] + [number] + parts[-3:]) + '.whl'\n"
	"def of_dist_info(info, name):\n"
	"    return info.filename.count('/') == 1 and info.filename.endswith('.dist-info/' + name)\n"
	"with zipfile.ZipFile(sys.argv[2]) as old, zipfile.ZipFile(os.path.join(folder, '.new'), 'w') as new:\n"
	"    wheel = next(info.filename for info in old.infolist() if of_dist_info(info, 'WHEEL'))\n"
	"    lines = [line for line in old.read(wheel).decode('utf-8').splitlines() if line.strip()]\n"
	"    lines = [line for line in lines if not line.lower().startswith('build:')] + ['Build: ' + number, '']\n"
	"    content = '\\n'.join(lines).encode('utf-8')\n"
	"    digest = base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode('ascii')\n"
	"    def record(data):\n"
	"        out = io.StringIO()\n"
	"        rows = csv.writer(out, lineterminator='\\n')\n"
	"        for row in csv.reader(io.StringIO(data.decode('utf-8'))):\n"
	"            same = not row or row[0] != wheel\n"
	"            rows.writerow(row if same else [wheel, 'sha256=' + digest, str(len(content))])\n"
	"        return out.getvalue().encode('utf-8')\n"
	"    for info in old.infolist():\n"
	"        kept = zipfile.ZipInfo(info.filename, info.date_time)\n"
	"        for field in ('compress_type', 'create_system', 'external_attr', 'comment'):\n"
	"            setattr(kept, field, getattr(info, field))\n"
	"        if info.filename == wheel:\n"
	"            new.writestr(kept, content)\n"
	"        elif of_dist_info(info, 'RECORD'):\n"
	"            new.writestr(kept, record(old.read(info)))\n"
	"        else:\n"
	"            kept.file_size = info.file_size\n"
	"            with old.open(info) as source, new.open(kept, 'w') as target:\n"
	"                shutil.copyfileobj(source, target, 1 << 20)\n"
	"os.remove(sys.argv[2])\n"
	"os.rename(os.path.join(folder, '.new'), os.path.join(folder, renamed))\n"
	"with open(sys.argv[1], 'w', encoding='utf-8') as f:\n"
	"    f.write(renamed)\n";

// The wheel of the room, in its output folder, is replaced by the one with the tag, which has another name. The room's
// Python does it. ERR_INVALID: it failed; the log says why.
static int build_number_set(struct sandbox *r, unsigned number, struct err *e)
{
	CLEANUP(mem_free) char *script = xasprintf("%s%u%s", script_head, number, script_rest);
	CLEANUP(buf_release) struct buf answer = buf_up_to(LIMIT_BUILD_ANSWER);
	if (sandbox_ask(r, script, "%w", (unsigned)sandbox_seconds(r), &answer, e) < 0)
		return err_prefix(e, "the wheel does not get its build tag: ");
	return 0;
}

// --- the audit of a built wheel ---
//
// Judges a built wheel before it is tested, as an upload of it would be. No foreign program of the attempt runs
// meanwhile. Any thread.

static int read_built(const struct built_wheel *wheel, const struct filename *name, struct wheel_facts *out,
	struct err *e)
{
	CLEANUP(mem_close) int fd = open(wheel->path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (fd < 0)
		return err_errno(e, ERR_IO, "%s", wheel->filename);
	const struct byte_source bytes = byte_source_file(fd, wheel->size);
	return wheel_facts_read(&bytes, name, out, e);
}

// Each finding becomes a line of the log. ERR_INVALID: the gate refuses the wheel. ERR_IO: it cannot be read.
static int wheel_audit(struct wheel_gate *gate, const char *platform, const struct built_wheel *wheel,
	struct run_log *log, struct err *e)
{
	struct err why = ERR_INIT;
	CLEANUP(filename_release) struct filename name = {0};
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	CLEANUP(audit_report_release) struct audit_report report = {0};
	if (filename_parse(str_from(wheel->filename), &name, e) < 0)
		return -1;
	if (read_built(wheel, &name, &facts, &why) < 0) {
		run_log_line(log, "what is inside %s is unknown: %s", wheel->filename, why.msg);
		if (why.kind != ERR_IO && !wheel_gate_refuses(gate))
			return 0;
		*e = why;
		return err_prefix(e, "it cannot be audited: ");
	}
	wheel_gate_judge(gate, platform, &name, &facts, &report);
	CLEANUP(buf_release) struct buf line = buf_up_to(2 * LIMIT_PATH + LIMIT_AUDIT_WHY);
	for (size_t i = 0; i < report.count; i++) {
		buf_clear(&line);
		wheel_gate_print(&report.finding[i], &line);
		run_log_line(log, "%s", line.data);
	}
	return wheel_gate_refuses(gate) ? wheel_gate_check(&report, e) : 0;
}

const char *const attempt_step_name[ATTEMPT_STEP_COUNT] = {
	"", "fetch", "build", "repair", "extra", "audit", "test", "push"};

// The built-in commands.
#define BUILD_COMMAND                                                                                                  \
	"%e/bin/python -m pip wheel --no-deps --use-pep517 --no-cache-dir --no-input --disable-pip-version-check "     \
	"--index-url %i --wheel-dir %o %s"
#define INSTALL_COMMAND                                                                                                \
	"%e/bin/python -m pip install --no-cache-dir --no-input --disable-pip-version-check --index-url %i %w"
// -I: neither the working folder nor variables of the environment add modules.
#define IMPORT_COMMAND "%e/bin/python -I %d/import.py"
static const char import_script[] = "import importlib, sys\n"
				    "for name in sys.argv[1:]:\n"
				    "    print('import', name, flush=True)\n"
				    "    importlib.import_module(name)\n";

struct attempt {
	const struct attempt_options *options;
	const struct missing_row *row;
	struct attempt_outcome *out;
	struct sandbox room;
	struct built_wheel wheel;
	enum attempt_step step;
	char sdist_sha256[SHA256_HEX + 1]; // "": not fetched
	struct jsondoc *provenance;
	int64_t begun_ms;
};

static void attempt_release(struct attempt *a)
{
	sandbox_close(&a->room);
	built_wheel_release(&a->wheel);
	jsondoc_cleanup(&a->provenance);
}

// --- what is common to the steps ---

// Every step leaves one wheel, whatever its exit code says.
static int take_wheel(struct attempt *a, struct err *e)
{
	const struct built_wheel_want want = {a->row->project, a->row->version, a->options->environment};
	if (built_wheel_find(a->room.output, &want, &a->wheel, e) < 0)
		return -1;
	free(a->room.wheel);
	a->room.wheel = xstrdup(a->wheel.path);
	return 0;
}

static int run_command(struct attempt *a, const char *command, struct err *e)
{
	return sandbox_run(&a->room, command, NULL, e) < 0 ? -1 : take_wheel(a, e);
}

// --- fetch ---

// Names and versions become words of commands: nothing in them may begin an option.
static int check_words(const struct missing_row *row, struct err *e)
{
	if (!name_is_valid(str_from(row->project)))
		return err_set(e, ERR_INVALID, "the name of the project is invalid");
	if (!row->version || !version_is_valid(str_from(row->version)) || !ascii_is_alnum(*row->version))
		return err_set(e, ERR_INVALID, "the version is invalid");
	if (!row->sdist.filename || !row->sdist.url)
		return err_set(e, ERR_INVALID, "there is no sdist");
	if (filename_kind(str_from(row->sdist.filename)) != FILENAME_SDIST || !ascii_is_alnum(*row->sdist.filename))
		return err_set(e, ERR_INVALID, "its file name is that of no sdist");
	return filename_check(str_from(row->sdist.filename), e);
}

static int fetch_step(struct attempt *a, struct err *e)
{
	const struct attempt_options *o = a->options;
	const struct sdist_source source = {.config = o->config,
		.platform = o->platform,
		.from = o->from,
		.fetch = o->fetch,
		.stop = o->stop,
		.seconds = sandbox_seconds(&a->room)};
	CLEANUP(mem_free) char *path = xasprintf("%s/sdist/%s", a->room.folder, a->row->sdist.filename);
	if (check_words(a->row, e) < 0)
		return -1;
	if (sdist_fetch(&source, a->row, path, a->sdist_sha256, e) < 0) {
		if (e->kind == ERR_NET) // the host is out of reach: that is no failure of the wheel
			a->room.cause = RESULTS_WAITING;
		return -1;
	}
	a->room.sdist = STEAL_PTR(path);
	return 0;
}

// --- build ---

// The names that the sdist wants for its build, that pip has not installed for it, and that are themselves missing. A
// crash and the time limit have other reasons.
static void note_awaiting(struct attempt *a, const struct strset *installed)
{
	CLEANUP(strset_release) struct strset wanted = {0};
	CLEANUP(buf_release) struct buf names = buf_up_to(LIMIT_RESULT_AWAITING);
	if (!a->options->missing || !a->options->missing->count || a->room.cause != RESULTS_RUNNING)
		return;
	build_facts_wanted(&a->room, &wanted);
	for (size_t i = 0; i < wanted.count; i++)
		if (strset_has(a->options->missing, wanted.item[i]) && !strset_has(installed, wanted.item[i]) &&
			strcmp(wanted.item[i], a->row->project) != 0 &&
			names.len + strlen(wanted.item[i]) < LIMIT_RESULT_AWAITING)
			buf_printf(&names, "%s%s", names.len ? " " : "", wanted.item[i]);
	a->out->attempt.awaiting = arena_copy(&a->out->text, buf_view(&names));
}

static int build_step(struct attempt *a, struct err *e)
{
	const char *command = a->options->config->build_command;
	struct err no_report = ERR_INIT;
	struct report_pipe *pipe = NULL;
	CLEANUP(strset_release) struct strset installed = {0};
	CLEANUP(mem_free) char *path = xasprintf("%s/" STEP_ENVIRONMENT_REPORT, a->room.folder);
	CLEANUP(buf_release) struct buf reports = buf_up_to(LIMIT_BUILD_REPORT);
	if (build_facts_machine(&a->room, a->provenance, e) < 0)
		return -1;
	if (report_pipe_open(path, LIMIT_BUILD_REPORT, &pipe, &no_report) < 0)
		run_log_line(a->room.log, "pip cannot report what it installs: %s", no_report.msg);
	int built = run_command(a, command ? command : BUILD_COMMAND, e);
	report_pipe_close(pipe, &reports);
	build_facts_requirements(buf_view(&reports), a->provenance, &installed);
	if (built < 0)
		note_awaiting(a, &installed);
	return built;
}

// --- repair, extra ---

// A wheel for any platform has no libraries that could be repaired, and auditwheel fails for it.
static bool wants_repair(const struct attempt *a)
{
	return a->options->config->build_repair && !built_wheel_is_pure(&a->wheel);
}

static int repair_step(struct attempt *a, struct err *e)
{
	return run_command(a, a->options->config->build_repair, e);
}

static bool wants_extra(const struct attempt *a)
{
	return a->options->config->build_extra || a->row->build;
}

static int extra_step(struct attempt *a, struct err *e)
{
	const char *commands = a->options->config->build_extra;
	for (struct str rest = str_from(commands ? commands : ""); rest.len;) {
		struct str line = str_trim(str_cut(&rest, '\n'));
		CLEANUP(mem_free) char *command = xstrndup(line.ptr, line.len);
		if (line.len && run_command(a, command, e) < 0)
			return -1;
	}
	if (!a->row->build)
		return 0;
	return build_number_set(&a->room, a->row->build, e) < 0 ? -1 : take_wheel(a, e);
}

// --- audit ---

static bool wants_audit(const struct attempt *a)
{
	return a->options->gate != NULL;
}

static int audit_step(struct attempt *a, struct err *e)
{
	if (wheel_audit(a->options->gate, a->row->platform, &a->wheel, a->room.log, e) == 0)
		return 0;
	if (e->kind == ERR_INVALID || e->kind == ERR_LIMIT)
		a->room.cause = RESULTS_REFUSED;
	return -1;
}

// --- test ---

static bool wants_test(const struct attempt *a)
{
	const char *command = a->options->config->build_test;
	return !command || strcmp(command, "none") != 0;
}

static int import_modules(struct attempt *a, struct err *e)
{
	CLEANUP(strset_release) struct strset modules = {0};
	if (top_modules_read(a->wheel.path, &modules, e) < 0)
		return -1;
	if (!modules.count)
		return 0; // only data or type stubs
	if (sandbox_write(&a->room, "import.py", import_script, e) < 0)
		return -1;
	return sandbox_run_again(&a->room, IMPORT_COMMAND, &modules, e);
}

static int test_step(struct attempt *a, struct err *e)
{
	const char *command = a->options->config->build_test;
	if (command)
		return run_command(a, command, e);
	if (sandbox_run(&a->room, INSTALL_COMMAND, NULL, e) < 0 || import_modules(a, e) < 0)
		return -1;
	return take_wheel(a, e);
}

// --- push ---

static int push_step(struct attempt *a, struct err *e)
{
	const struct attempt_options *o = a->options;
	const struct wheel_target target = {.server = o->target,
		.fetch = o->fetch,
		.config = o->config,
		.platform = o->platform,
		.catalog = o->catalog};
	CLEANUP(buf_release) struct buf statement = buf_up_to(LIMIT_STATEMENT);
	const struct build_statement about = {&a->wheel, a->row, a->sdist_sha256, o->config, o->id, a->provenance,
		a->room.log, a->out->attempt.begun, clock_wall_seconds(), o->listed};
	build_statement_write(&about, &statement);
	enum wheel_push_end end = wheel_push(&target, &a->wheel, statement.data, e);
	if (end == WHEEL_PUSH_REFUSED || end == WHEEL_PUSH_TAKEN)
		a->room.cause = RESULTS_REFUSED;
	if (end == WHEEL_PUSH_FAILED && e->kind == ERR_NET)
		a->room.cause = RESULTS_WAITING;
	a->out->is_taken = end == WHEEL_PUSH_TAKEN;
	a->out->is_hopeless = end == WHEEL_PUSH_HOPELESS;
	if (end != WHEEL_PUSH_DONE)
		return -1;
	a->out->wheel = xstrdup(a->wheel.filename);
	a->out->requires_python = STEAL_PTR(a->wheel.requires_python);
	return 0;
}

// --- all steps ---

struct attempt_row {
	enum attempt_step step;
	bool (*is_wanted)(const struct attempt *a); // NULL: always
	int (*run)(struct attempt *a, struct err *e);
	enum results_result failure; // unless its cause says more
};

static const struct attempt_row rows[] = {
	{ATTEMPT_FETCH, NULL, fetch_step, RESULTS_FAILED},
	{ATTEMPT_BUILD, NULL, build_step, RESULTS_FAILED},
	{ATTEMPT_REPAIR, wants_repair, repair_step, RESULTS_REPAIR_FAILED},
	{ATTEMPT_EXTRA, wants_extra, extra_step, RESULTS_FAILED},
	{ATTEMPT_AUDIT, wants_audit, audit_step, RESULTS_FAILED},
	{ATTEMPT_TEST, wants_test, test_step, RESULTS_TEST_FAILED},
	{ATTEMPT_PUSH, NULL, push_step, RESULTS_FAILED},
};

static bool is_attempt_stopped(const struct attempt *a)
{
	return a->options->stop && atomic_load(a->options->stop);
}

static enum results_result run_attempt_steps(struct attempt *a, struct err *e)
{
	for (const struct attempt_row *row = rows; row < rows + ARRAY_SIZE(rows); row++) {
		if (row->is_wanted && !row->is_wanted(a))
			continue;
		a->step = row->step;
		if (a->options->on_step)
			a->options->on_step(a->options->ctx, row->step);
		if (is_attempt_stopped(a))
			err_set(e, ERR_BUSY, "the builder was stopped");
		else if (row->run(a, e) == 0)
			continue;
		run_log_line(a->room.log, "%s: %s", attempt_step_name[row->step], e->msg);
		if (is_attempt_stopped(a))
			return RESULTS_INTERRUPTED;
		if (a->room.cause != RESULTS_RUNNING)
			return a->room.cause;
		return clock_ms() >= a->room.end_ms ? RESULTS_TIMED_OUT : row->failure;
	}
	return RESULTS_OK;
}

// --- the outcome ---

static const char *copy_into_outcome(struct attempt *a, const char *text)
{
	return arena_copy(&a->out->text, str_from(text ? text : ""));
}

static const char *describe_wheel(struct attempt *a)
{
	if (!a->wheel.filename)
		return "";
	CLEANUP(mem_free)
	char *line = xasprintf("%s %s %llu", a->wheel.filename, a->wheel.sha256, (unsigned long long)a->wheel.size);
	return copy_into_outcome(a, line);
}

static const char *describe_sdist(struct attempt *a)
{
	if (!*a->sdist_sha256)
		return "";
	CLEANUP(mem_free) char *line = xasprintf("%s %s", a->row->sdist.filename, a->sdist_sha256);
	return copy_into_outcome(a, line);
}

// Names of files that a foreign program chose may be in the message.
static const char *write_reason(struct attempt *a, const struct err *why)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(LOG_REASON);
	log_reason_line(str_from(why->msg), &line);
	return arena_copy(&a->out->text, buf_view(&line));
}

static void begin_outcome(struct attempt *a)
{
	const struct attempt_options *o = a->options;
	char recipe[SHA256_HEX + 1];
	attempt_recipe(o->config, o->index, a->row, recipe);
	*a->out = (struct attempt_outcome){0};
	buf_init(&a->out->log, o->config->build_log_size + LIMIT_PATH);
	a->out->attempt = (struct results_attempt){
		.id = copy_into_outcome(a, o->id),
		.platform = copy_into_outcome(a, a->row->platform),
		.python = copy_into_outcome(a, a->row->python),
		.project = copy_into_outcome(a, a->row->project),
		.version = copy_into_outcome(a, a->row->version),
		.step = "",
		.why = "",
		.files = "",
		.sdist = "",
		.awaiting = "",
		.provenance = "{}",
		.recipe = copy_into_outcome(a, recipe),
		.builder = copy_into_outcome(a, o->host),
		.begun = clock_wall_seconds(),
	};
}

void attempt_run(const struct attempt_options *options, const struct missing_row *row, struct attempt_outcome *out)
{
	const struct step_values values = {row->platform, row->python, row->project, row->version, options->index};
	CLEANUP(attempt_release)
	struct attempt a = {.options = options, .row = row, .out = out, .begun_ms = clock_ms(), .room = {.parent = -1}};
	enum results_result result = RESULTS_FAILED;
	struct err e = ERR_INIT;
	begin_outcome(&a);
	a.provenance = build_facts_begin(options->config, row, options->index, options->host);
	if (sandbox_open(&a.room, options->config, &values, options->work, options->id, &e) == 0) {
		a.room.stop = options->stop;
		result = run_attempt_steps(&a, &e);
	}
	struct err ignored = ERR_INIT;
	struct results_attempt *r = &a.out->attempt;
	if (a.room.log && run_log_text(a.room.log, &a.out->log, &ignored) < 0)
		buf_clear(&a.out->log);
	r->result = result;
	r->step = attempt_step_name[a.step];
	r->why = result == RESULTS_OK ? "" : write_reason(&a, &e);
	r->seconds = (double)(clock_ms() - a.begun_ms) / 1000;
	r->peak_memory = a.room.peak_memory;
	r->files = describe_wheel(&a);
	r->sdist = describe_sdist(&a);
	// A foreign program decides how many build requirements there are: too many are left out.
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_RESULT_PROVENANCE);
	jsondoc_write(a.provenance, 0, &text);
	if (text.failed) {
		buf_clear(&text);
		jsondoc_put(a.provenance, "requirements", jsondoc_array());
		jsondoc_write(a.provenance, 0, &text);
	}
	r->provenance = arena_copy(&a.out->text, text.failed ? STR("{}") : str_trim(buf_view(&text)));
	r->has_log = a.out->log.len > 0;
	a.out->is_hopeless |= e.kind == ERR_FULL;
}

void attempt_outcome_release(struct attempt_outcome *out)
{
	free(out->wheel);
	free(out->requires_python);
	buf_release(&out->log);
	arena_release(&out->text);
	*out = (struct attempt_outcome){0};
}

// --- the recipe ---

static void add_part(struct digest *d, const char *name, const char *text)
{
	digest_add(d, name, strlen(name) + 1);
	if (text)
		digest_add(d, text, strlen(text) + 1);
}

void attempt_recipe(const struct config *c, const char *index, const struct missing_row *row, char out[SHA256_HEX + 1])
{
	const char *const parts[][2] = {
		{"build", c->build_command ? c->build_command : BUILD_COMMAND},
		{"repair", c->build_repair},
		{"extra", c->build_extra},
		{"test", c->build_test ? c->build_test : INSTALL_COMMAND IMPORT_COMMAND},
		{"wrap", c->build_wrap},
		{"environment", c->build_environment},
		{"index", index},
		{"sdist", row->sdist.filename},
		{"sha256", row->sdist.sha256},
	};
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(digest_cleanup) struct digest *d = digest_new();
	digest_begin(d);
	for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
		add_part(d, parts[i][0], parts[i][1]);
	if (strcmp(c->upload_audit, "refuse") == 0)
		add_part(d, "audit", c->upload_audit_policy);
	digest_end(d, sha256);
	hex_encode(sha256, SHA256_SIZE, out);
	out[SHA256_HEX] = '\0';
}

// --- the work folder ---

char *attempt_log_path(const char *work, const char *id)
{
	return xasprintf("%s/%s/log", work, id);
}

static bool is_attempt_id(const char *name)
{
	return strlen(name) == RESULTS_ID && strspn(name, "0123456789abcdef") == RESULTS_ID;
}

int attempt_clean(const char *work, struct err *e)
{
	int result = 0;
	CLEANUP(mem_close) int fd = fs_open_dir(work, e);
	if (fd < 0)
		return -1;
	int listed = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	CLEANUP(fs_close_dir) DIR *dir = listed < 0 ? NULL : fdopendir(listed);
	if (!dir) {
		mem_close(&listed);
		return err_errno(e, ERR_IO, "%s", work);
	}
	for (struct dirent *entry; (entry = readdir(dir));)
		if (is_attempt_id(entry->d_name) && tree_remove(fd, entry->d_name, e) < 0)
			result = -1;
	return result;
}
