// SPDX-License-Identifier: Apache-2.0
// Decides cases as the pruner does, for tests in other languages. Reads one case per line, a JSON object. Prints one
// line for each: {"verdicts":[…]} in the order of the files, or {"error":TEXT} if the case cannot be parsed.
//
//     {"now":SECONDS,"policy":{"min-age":S,"upstream-min-age":S,"downloaded":S,"pure":bool,"off-list":bool,
//      "unusable":bool,"corrupt":bool,"name-taken-over":bool,"packages":TEXT|null,"constraints":[TEXT…],
//      "branch":SPECIFIER|null},
//      "platform":{"name","pythons","arch","libc"} (unknown: only "name"),"project":"foo",
//      "oldest":SECONDS|0 (of our files of the project),
//      "upstream":{"result":"known|absent|timeout|…","type":CONTENT-TYPE,"page":TEXT},
//      "files":[{"filename","sha256","mtime":SECONDS,"requires-python":TEXT|null,"corrupt":REASON|null,
//       "downloaded":SECONDS|0,"view":NAME|null,"lock":PATH|null}]}
//     {"verdicts":[{"filename","verdict","removes":bool,"why":CODE|null,"reason","identical":bool|null,
//      "environments":{"3.11":"file"}}]}
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lib/domain/index/simplepage.h"
#include "lib/format/jsondoc.h"
#include "lib/state/upstream/name-owner.h"
#include "lib/state/upstream/upstream.h"
#include "pruner/plan/verdict.h"

enum { ANSWER_MAX = 64 << 20 };

struct verdict_case {
	int64_t now;
	const char *project;
	struct policy policy;
	struct platform platform;
	char *platform_name;
	struct simplepage page;
	struct upstream_answer answer;
	struct verdict_upstream upstream;
};

static int64_t get_int(const struct jsondoc *object, const char *key)
{
	int64_t value = 0;
	jsondoc_get_int(object, key, &value);
	return value;
}

static int read_lists(struct policy *p, const struct jsondoc *from, struct err *e)
{
	const char *packages = jsondoc_get_str(from, "packages");
	const struct jsondoc *constraints = jsondoc_get(from, "constraints");
	p->has_packages = packages != NULL;
	if (packages && requirements_parse(&p->packages, str_from(packages), "packages", REQUIREMENT_PACKAGES, e) < 0)
		return -1;
	for (size_t i = 0; constraints && i < jsondoc_count(constraints); i++)
		if (requirements_parse(&p->pins, str_from(jsondoc_at_str(constraints, i)), "constraints",
			    REQUIREMENT_CONSTRAINTS, e) < 0)
			return -1;
	return 0;
}

// A branch that wants the project, on all platforms.
static void read_branch(struct policy *p, const char *specifier, const char *project)
{
	static struct config_branch config;
	if (!specifier)
		return;
	p->branches = (struct branches){.branch = xcalloc(1, sizeof(*p->branches.branch)), .count = 1};
	struct branch_line *line = xcalloc(1, sizeof(*line));
	*line = (struct branch_line){.project = project, .specifier = specifier, .marker = "", .source = "master.txt:1"};
	p->branches.branch[0] = (struct branch){.name = "master", .config = &config, .line = line, .lines = 1};
}

static int read_policy(struct policy *p, const struct jsondoc *from, struct err *e)
{
	p->min_age = get_int(from, "min-age");
	p->upstream_min_age = get_int(from, "upstream-min-age");
	p->downloaded = get_int(from, "downloaded");
	p->takes = (struct policy_takes){jsondoc_is_true(from, "pure"), jsondoc_is_true(from, "off-list"),
		jsondoc_is_true(from, "unusable"), jsondoc_is_true(from, "corrupt"),
		jsondoc_is_true(from, "name-taken-over")};
	return read_lists(p, from, e);
}

static int read_platform(struct verdict_case *a, const struct jsondoc *from, struct err *e)
{
	const struct profile_keys keys = {
		jsondoc_get_str(from, "pythons"), jsondoc_get_str(from, "arch"), jsondoc_get_str(from, "libc")};
	a->platform_name = xstrdup(jsondoc_get_str(from, "name"));
	a->platform.name = a->platform_name;
	return keys.pythons ? profile_init(&a->platform.profile, a->platform_name, &keys, e) : 0;
}

static enum upstream_result find_result(const char *name)
{
	for (size_t i = 0; i < UPSTREAM_RESULT_COUNT; i++)
		if (strcmp(upstream_result_name[i], name) == 0)
			return (enum upstream_result)i;
	return UPSTREAM_OTHER;
}

static int read_page(struct verdict_case *a, const struct jsondoc *from, struct err *e)
{
	enum simplepage_fault fault;
	const char *body = jsondoc_get_str(from, "page"), *type = jsondoc_get_str(from, "type");
	if (!body || !type)
		return err_set(e, ERR_INVALID, "known, but no page");
	if (simplepage_parse(str_from(body), str_from(type), "http://127.0.0.1/simple/x/", a->project, &a->page, &fault,
		    e) < 0) {
		a->answer.result = UPSTREAM_NOT_A_PAGE;
		return 0;
	}
	if (a->page.status == SIMPLEPAGE_QUARANTINED)
		a->answer.result = UPSTREAM_QUARANTINED;
	else
		a->answer.page = &a->page;
	return 0;
}

static int read_upstream(struct verdict_case *a, const struct jsondoc *from, int64_t oldest, struct err *e)
{
	a->answer.result = find_result(jsondoc_get_str(from, "result"));
	a->answer.project = a->project;
	if (a->answer.result == UPSTREAM_KNOWN && read_page(a, from, e) < 0)
		return -1;
	verdict_upstream_init(&a->upstream, a->project, &a->answer);
	a->upstream.is_younger = name_owner_is_younger(oldest, &a->answer);
	return 0;
}

static int read_case(struct verdict_case *a, const struct jsondoc *from, struct err *e)
{
	*a = (struct verdict_case){.now = get_int(from, "now"), .project = jsondoc_get_str(from, "project")};
	read_branch(&a->policy, jsondoc_get_str(jsondoc_get(from, "policy"), "branch"), a->project);
	if (read_policy(&a->policy, jsondoc_get(from, "policy"), e) < 0 ||
		read_platform(a, jsondoc_get(from, "platform"), e) < 0)
		return -1;
	return read_upstream(a, jsondoc_get(from, "upstream"), get_int(from, "oldest"), e);
}

static void verdict_case_release(struct verdict_case *a)
{
	verdict_upstream_release(&a->upstream);
	simplepage_release(&a->page);
	profile_release(&a->platform.profile);
	policy_release(&a->policy);
	free(a->platform_name);
}

static struct jsondoc *environments(const struct verdict *v)
{
	struct jsondoc *all = jsondoc_object();
	for (size_t i = 0; i < v->evidence.places; i++) {
		const struct replacement_place *p = &v->evidence.place[i];
		CLEANUP(buf_release) struct buf name;
		buf_init(&name, 100);
		python_print(&p->environment->python, &name);
		if (p->file)
			jsondoc_put_str(all, name.data, p->file->filename);
	}
	return all;
}

static struct jsondoc *answer_of(const struct verdict *v, const char *filename)
{
	struct jsondoc *one = jsondoc_object();
	jsondoc_put_str(one, "filename", filename);
	jsondoc_put_str(one, "verdict", verdict_name[v->kind]);
	jsondoc_put_bool(one, "removes", v->removes);
	jsondoc_put_str(one, "why", verdict_why_name[v->why]);
	jsondoc_put_str(one, "reason", v->reason.data);
	jsondoc_put_str(one, "file", v->file ? v->file->filename : NULL);
	jsondoc_put_bool(one, "identical", v->is_identical);
	jsondoc_put(one, "environments", environments(v));
	return one;
}

static struct jsondoc *decide(const struct verdict_case *a, const struct jsondoc *from)
{
	CLEANUP(filename_release) struct filename name = {0};
	struct verdict v;
	uint8_t sha256[SHA256_SIZE];
	struct err unsaid = ERR_INIT;
	const char *filename = jsondoc_get_str(from, "filename"), *hex = jsondoc_get_str(from, "sha256");
	bool is_named = filename_parse(str_from(filename), &name, &unsaid) == 0;
	int64_t downloaded = get_int(from, "downloaded");
	const struct verdict_file file = {
		.filename = filename,
		.project = a->project,
		.version = is_named ? name.version.text : NULL,
		.sha256 = hex && hex_decode(str_from(hex), sha256, sizeof(sha256)) ? sha256 : NULL,
		.mtime = get_int(from, "mtime"),
		.requires_python = jsondoc_get_str(from, "requires-python"),
		.refusal = jsondoc_get_str(from, "corrupt"),
		.was_downloaded = downloaded && a->now - downloaded <= a->policy.downloaded,
		.view = jsondoc_get_str(from, "view"),
		.lock = jsondoc_get_str(from, "lock"),
	};
	verdict_decide(&a->policy, &a->platform, &file, &a->upstream, a->now, &v);
	struct jsondoc *one = answer_of(&v, filename);
	verdict_release(&v);
	return one;
}

static void answer_case(const struct jsondoc *from, struct jsondoc *out)
{
	CLEANUP(verdict_case_release) struct verdict_case a;
	struct err e = ERR_INIT;
	if (read_case(&a, from, &e) < 0) {
		jsondoc_put_str(out, "error", e.msg);
		return;
	}
	const struct jsondoc *files = jsondoc_get(from, "files");
	struct jsondoc *verdicts = jsondoc_array();
	for (size_t i = 0; i < jsondoc_count(files); i++)
		jsondoc_add(verdicts, decide(&a, jsondoc_at(files, i)));
	jsondoc_put(out, "verdicts", verdicts);
}

int main(void)
{
	CLEANUP(mem_free) char *line = NULL;
	size_t room = 0;
	CLEANUP(buf_release) struct buf text;
	buf_init(&text, ANSWER_MAX);
	while (getline(&line, &room, stdin) > 0) {
		struct err e = ERR_INIT;
		CLEANUP(jsondoc_cleanup) struct jsondoc *from = jsondoc_read(str_from(line), &e);
		CLEANUP(jsondoc_cleanup) struct jsondoc *out = jsondoc_object();
		if (from)
			answer_case(from, out);
		else
			jsondoc_put_str(out, "error", e.msg);
		buf_clear(&text);
		jsondoc_write(out, 0, &text);
		fwrite(text.data, 1, text.len, stdout);
	}
	return EXIT_SUCCESS;
}
