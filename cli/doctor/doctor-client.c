// SPDX-License-Identifier: Apache-2.0
#include "cli/doctor/doctor-client.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "cli/doctor/client-settings.h"
#include "cli/doctor/doctor-server.h"
#include "lib/base/counted.h"
#include "lib/base/limits.h"
#include "lib/base/suggest.h"
#include "lib/domain/index/simplepage.h"
#include "lib/domain/machine/profile.h"
#include "lib/domain/text/name.h"
#include "lib/domain/text/specifier.h"
#include "lib/format/escape.h"
#include "lib/format/jsondoc.h"
#include "lib/install/nearest-wheel.h"
#include "lib/net/fetch.h"

// --- which Python ---

enum { ANSWER_MOST = 512, ANY_MICRO = -1 };

// Prints VERSION MICRO ARCH LIBC, such as "3.13t 2 x86_64 glibc 2.36". $PYTHON_OF_DOCTOR: the program.
#define ASK                                                                                                             \
	"timeout 20 \"$PYTHON_OF_DOCTOR\" -I -c '"                                                                      \
	"import glob, platform, sys, sysconfig\n"                                                                       \
	"v, l = sys.version_info, platform.libc_ver()\n"                                                                \
	"l = l if l[0] == \"glibc\" else (\"musl\", \"1.2\") if glob.glob(\"/lib/ld-musl-*\") else (\"none\", \"0\")\n" \
	"n = \"pp%d%d\" if sys.implementation.name == \"pypy\" else \"%d.%d\"\n"                                        \
	"t = \"t\" if sysconfig.get_config_var(\"Py_GIL_DISABLED\") else \"\"\n"                                        \
	"print(n % v[:2] + t, v[2], platform.machine(), *l)' 2>/dev/null"

// The Python that is judged, or the machine alone.
struct client_python {
	char version[16], arch[32], libc[32];
	int micro;
	char *from; // where it was found; NULL: there is none. Owned
	struct profile profile;
};

static void client_python_release(struct client_python *p)
{
	free(p->from);
	profile_release(&p->profile);
}

static bool ask_program(const char *program, struct client_python *out)
{
	char answer[ANSWER_MOST] = "", kind[16], number[16];
	setenv("PYTHON_OF_DOCTOR", program, 1);
	FILE *f = popen(ASK, "re");
	if (!f)
		return false;
	bool has_line = fgets(answer, sizeof(answer), f) != NULL;
	if (pclose(f) != 0 || !has_line ||
		sscanf(answer, "%15s %d %31s %15s %15s", out->version, &out->micro, out->arch, kind, number) != 5)
		return false;
	snprintf(out->libc, sizeof(out->libc), "%s %s", kind, number);
	out->from = xstrdup(program);
	return true;
}

static bool find_program(struct client_python *out)
{
	const char *venv = getenv("VIRTUAL_ENV");
	CLEANUP(mem_free) char *own = venv && *venv ? xasprintf("%s/bin/python", venv) : NULL;
	return (own && ask_program(own, out)) || ask_program("python3", out) || ask_program("python", out);
}

// *is_known: the Python; otherwise its machine alone is.
static bool find_python(struct doctor_report *r, const char *wanted, struct client_python *out, bool *is_known)
{
	struct python ignored;
	struct err e = ERR_INIT;
	out->micro = ANY_MICRO;
	bool is_version = wanted && python_parse(str_from(wanted), &ignored, &e) == 0;
	*is_known = is_version || (wanted ? ask_program(wanted, out) : find_program(out));
	if (wanted && !*is_known) {
		doctor_wrong(r, "python", "give a version such as 3.12, or a program",
			"--python %s: it is no version of Python, and no program that is one", wanted);
		return false;
	}
	if (!*is_known || is_version) {
		// By the kernel and our own libc.
		struct utsname name;
		if (uname(&name) == 0)
			snprintf(out->arch, sizeof(out->arch), "%.31s", name.machine);
		if (!confstr(_CS_GNU_LIBC_VERSION, out->libc, sizeof(out->libc))) // "glibc 2.36"
			snprintf(out->libc, sizeof(out->libc), "musl 1.2");
	}
	if (is_version)
		snprintf(out->version, sizeof(out->version), "%.15s", wanted);
	const struct profile_keys keys = {*is_known ? out->version : "3.12", out->arch, out->libc};
	if (profile_init(&out->profile, "this machine", &keys, &e) == 0)
		return true;
	doctor_warn(r, "python", "look with pip debug --verbose",
		"it is not known which wheels install on this machine (%s, %s): %s", out->arch, out->libc, e.msg);
	return false;
}

// --- which file ---

struct install_judge {
	const struct client_python *python;
	const char *wanted; // a specifier set; "": none
	struct fits fits;
	struct index_files files;
};

static bool installs(struct install_judge *j, const struct index_file *o)
{
	uint64_t micros = fits_micros(&j->fits, o->python, 0);
	bool has_micro = j->python->micro == ANY_MICRO || j->python->micro >= SPECIFIER_MICROS
				 ? micros != 0
				 : micros >> j->python->micro & 1;
	return o->is_wheel && !o->is_yanked && has_micro && fits_rank(&j->fits, o->tags, 0) >= 0;
}

// Of the final releases, or if there is none of all; NULL: none.
static const struct index_release *newest_release(const struct install_judge *j, const struct index_release *list,
	size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!j->files.file[list[i].first].version.is_prerelease)
			return &list[i];
	return count ? list : NULL;
}

static const struct index_file *find_file(struct install_judge *j, const struct index_release *list, size_t count,
	bool takes_pre)
{
	for (size_t i = 0; i < count; i++)
		for (size_t k = list[i].first; k < list[i].end; k++)
			if ((takes_pre || !j->files.file[k].version.is_prerelease) &&
				installs(j, &j->files.file[k]))
				return &j->files.file[k];
	return NULL;
}

static bool has_sdist(const struct install_judge *j, const struct index_release *release)
{
	for (size_t i = release->first; i < release->end; i++)
		if (!j->files.file[i].is_wheel && !j->files.file[i].is_yanked)
			return true;
	return false;
}

static void say_why_not(struct doctor_report *r, struct install_judge *j, const struct index_release *newest,
	const struct index_file *older, const char *here)
{
	CLEANUP(buf_release) struct buf why = buf_up_to(ERR_MSG_SIZE);
	const char *version = j->files.file[newest->first].version.text;
	nearest_wheel(&j->files, 0, newest, &why);
	if (has_sdist(j, newest))
		doctor_warn(r, "install",
			"pip builds the sdist here, with the compilers that it needs; or have a wheel built",
			"no wheel of %s %s installs on %s, but it has an sdist: %s", j->files.project, version, here,
			why.data);
	else if (older)
		doctor_warn(r, "install", "have a wheel built, if the newest version is wanted",
			"pip takes %s on %s; of %s: %s", older->filename, here, version, why.data);
	else
		doctor_wrong(r, "install",
			"use a Python and a machine for which there is a wheel, or have one built: wheelcache missing",
			"no file of %s installs on %s; the nearest of %s: %s", j->files.project, here, version,
			why.data);
}

static void judge_install(struct doctor_report *r, struct install_judge *j, const char *here)
{
	size_t count;
	const struct index_release *list = index_files_admitted(&j->files, j->wanted, &count);
	const struct index_release *newest = newest_release(j, list, count);
	if (!newest) {
		doctor_wrong(r, "install", "look at its page", "%s%s has neither a wheel nor an sdist",
			j->files.project, j->wanted);
		return;
	}
	const struct index_file *found = find_file(j, list, count, j->files.file[newest->first].version.is_prerelease);
	bool is_newest = found && found >= &j->files.file[newest->first] && found < &j->files.file[newest->end];
	if (is_newest)
		doctor_fine(r, "install", "%s installs on %s", found->filename, here);
	else
		say_why_not(r, j, newest, found, here);
}

static bool fits_machine(const struct client_python *p, const char *filename)
{
	struct err ignored = ERR_INIT;
	struct filename name;
	if (filename_parse(str_from(filename), &name, &ignored) < 0)
		return false;
	bool fits = profile_fits_machine(&p->profile, &name, &ignored);
	filename_release(&name);
	return fits;
}

// Whether one of the project's files installs on this Python and machine, by the rules of lib/domain, and if not, why.
// python: a version such as 3.12, or a program; NULL: that of $VIRTUAL_ENV, else of PATH. Where there is none, only the
// machine is judged. wanted: a specifier set such as "==1.0"; "": the newest version.
static void doctor_install(struct doctor_report *r, const char *python, const char *wanted,
	const struct simplepage *page)
{
	CLEANUP(client_python_release) struct client_python p = {.from = NULL};
	bool is_known;
	if (!find_python(r, python, &p, &is_known))
		return;
	if (!is_known) {
		size_t fitting = 0;
		for (size_t i = 0; i < page->files; i++)
			fitting += fits_machine(&p, page->file[i].filename);
		doctor_report_add(r, fitting ? DOCTOR_WARNING : DOCTOR_WRONG, "install",
			"put a Python into PATH, or name one: --python 3.12",
			"no Python is found here; of %s of %s %s for this machine, %s with %s",
			COUNTED(page->files, "file|files"), page->project, COUNTED(fitting, "is|are"), p.arch, p.libc);
		return;
	}
	if (p.from)
		doctor_fine(r, "python", "%s is Python %s", p.from, p.version);
	CLEANUP(buf_release) struct buf here = buf_up_to(LIMIT_PATH);
	struct install_judge j = {.python = &p, .wanted = wanted};
	profile_describe(&p.profile, &here);
	fits_add(&j.fits, NULL, &p.profile.machine, &p.profile.environment[0]);
	index_files_init(&j.files, page->project, &j.fits);
	index_files_add_page(&j.files, page, 0);
	judge_install(r, &j, here.data);
	index_files_release(&j.files);
	fits_release(&j.fits);
}

// --- files that were lost ---

static const char *const json_headers[] = {"Accept: application/json", NULL};

// Cuts the last folder off: "https://host/released/" becomes "https://host/" and "released". False: there is none.
static bool cut_folder(struct str *url, struct str *folder)
{
	struct str rest = *url;
	while (rest.len && rest.ptr[rest.len - 1] == '/')
		rest.len--;
	const struct str before = str_slice(rest, 0, (size_t)(str_rfind(rest, '/') + 1));
	*folder = str_slice(rest, before.len, rest.len);
	if (!folder->len || str_ends(before, STR("//")))
		return false;
	*url = before;
	return true;
}

// Of a view, or "simple", the default one. The caller frees the document. NULL: no such page.
static struct jsondoc *fetch_explanation(struct fetch *f, struct str root, struct str view, const char *project,
	const char *version)
{
	struct err ignored = ERR_INIT;
	CLEANUP(buf_release) struct buf url = buf_up_to(LIMIT_PATH);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	fetch_answer_init(&a, LIMIT_CLIENT_PAGE);
	buf_printf(&url, STR_FMT "-/explain/" STR_FMT "/%s%s", STR_ARG(root), STR_ARG(view), project,
		version ? "/" : "");
	escape_url(&url, str_from(version ? version : ""));
	buf_puts(&url, "?format=json");
	if (url.failed || fetch_get(f, url.data, json_headers, &a, &ignored) < 0 || a.status != 200)
		return NULL;
	return jsondoc_read_bounded(buf_view(&a.body), LIMIT_CLIENT_VALUES, &ignored);
}

// Of "…/VIEW/simple/", "…/VIEW/PLATFORM/simple/" or "…/simple/". view: "": the default one.
static struct jsondoc *ask_explanation(struct fetch *f, const char *index, const char *project, const char *version,
	struct str *view)
{
	struct str above = str_from(index), folder;
	if (!cut_folder(&above, &folder) || !str_eq(folder, STR("simple")))
		return NULL;
	struct str root = above;
	for (int folders = 0; folders < 2 && cut_folder(&root, view); folders++) {
		struct jsondoc *doc = fetch_explanation(f, root, *view, project, version);
		if (doc)
			return doc;
	}
	*view = STR("");
	return fetch_explanation(f, above, STR("simple"), project, version);
}

static const char *text_of(const struct jsondoc *loss, const char *key)
{
	const char *text = jsondoc_get_str(loss, key);
	return text ? text : "";
}

// Released files that the store has lost: the cause behind pip's "No matching distribution". The server's /-/explain/
// knows it. index: the URL of the index, without a password. project: in normal form. version: NULL: all. A server that
// does not answer, or is none of ours, adds none.
static void doctor_lost(struct doctor_report *r, struct fetch *f, const char *index, const char *project,
	const char *version)
{
	struct str view;
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = ask_explanation(f, index, project, version, &view);
	const struct jsondoc *lost = doc ? jsondoc_get(doc, "lost") : NULL;
	size_t count = 0;
	for (size_t i = 0; lost && i < jsondoc_count(lost); i++) {
		const struct jsondoc *loss = jsondoc_at(lost, i);
		bool is_meant = !view.len || str_eq(view, str_from(text_of(loss, "view")));
		if (is_meant && count++ < LIMIT_LOST_NAMED) {
			const char *since = text_of(loss, "since");
			CLEANUP(mem_free) char *advice = xasprintf("the operator: %s", text_of(loss, "advice"));
			doctor_wrong(r, "lost", advice, "view %s has lost %s of %s%s%s: %s", text_of(loss, "view"),
				text_of(loss, "filename"), text_of(loss, "platform"), *since ? ", since " : "", since,
				text_of(loss, "why"));
		}
	}
	if (count > LIMIT_LOST_NAMED)
		doctor_wrong(r, "lost", "the operator: wheelcache explain names all", "of %s, %s lost", project,
			COUNTED(count - LIMIT_LOST_NAMED, "more file is|more files are"));
}

// --- the client ---

struct client_doctor {
	struct doctor_report *report;
	const struct doctor_client_options *o;
	struct fetch_url url; // of the index, without a password
	const char *user, *password;
	bool has_token; // in the URL, or in WHEELCACHE_TOKEN
	struct fetch *fetch;
};

static const char *const page_headers[] = {"Accept: application/vnd.pypi.simple.v1+json, text/html;q=0.1", NULL};

static const char *set_variable(const char *name)
{
	const char *value = getenv(name);
	return value && *value ? value : NULL;
}

// --- the way ---

// Whether NO_PROXY names the host: a suffix of it, from a dot on, or "*".
static bool is_excepted(const char *host)
{
	const char *list = set_variable("no_proxy");
	struct str rest = str_from(list ? list : set_variable("NO_PROXY") ? getenv("NO_PROXY") : "");
	struct str whole = str_from(host);
	while (rest.len) {
		struct str one = str_trim(str_cut(&rest, ','));
		if (one.len && one.ptr[0] == '.')
			one = str_slice(one, 1, one.len);
		bool is_suffix = one.len && str_ends(whole, one) &&
				 (one.len == whole.len || whole.ptr[whole.len - one.len - 1] == '.');
		if (is_suffix || str_eq(one, STR("*")))
			return true;
	}
	return false;
}

// The name of the variable that sends requests to this URL through a proxy; NULL: none does.
static const char *proxy_variable(const struct fetch_url *u)
{
	static const char *const plain[] = {"http_proxy", "all_proxy", "ALL_PROXY"};
	static const char *const secure[] = {"https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"};
	bool is_secure = strcmp(u->scheme, "https") == 0;
	const char *const *name = is_secure ? secure : plain;
	for (size_t i = 0; i < (is_secure ? ARRAY_SIZE(secure) : ARRAY_SIZE(plain)); i++)
		if (set_variable(name[i]))
			return is_excepted(u->host) ? NULL : name[i];
	return NULL;
}

// libcurl has one code for all three faults; its words are OpenSSL's.
static bool is_of_time(const char *why)
{
	return strstr(why, "expired") || strstr(why, "not yet valid");
}

static bool is_of_host(const char *why)
{
	return strstr(why, "subject name") != NULL;
}

static void report_distrust(struct doctor_report *r, const char *why)
{
	if (is_of_time(why))
		doctor_wrong(r, "TLS",
			"look at the clock of this machine; if it is right, the operator renews the certificate",
			"the certificate is out of its time: %s", why);
	else if (is_of_host(why))
		doctor_wrong(r, "TLS", "use a name that the certificate has; the operator may add this one to it",
			"the certificate is for another host: %s", why);
	else
		doctor_wrong(r, "TLS", "set PIP_CERT and SSL_CERT_FILE to the certificate of its authority",
			"the certificate is not trusted: %s", why);
}

// --- the answer ---

static void report_no_token(const struct client_doctor *d, unsigned status)
{
	if (status == 403)
		doctor_wrong(d->report, "token",
			"ask for a token with the right to read this view's platforms: wheelcache token add --read",
			"the token may not read this index");
	else if (status == 429)
		doctor_wrong(d->report, "token", "wait a minute, then use the right token",
			"too many wrong tokens came from this address");
	else
		doctor_wrong(d->report, "token",
			"put a token into ~/.netrc or the variables of the client: wheelcache client-config --token",
			"%s",
			d->has_token ? "the token is unknown or has ended"
				     : "the index needs a token, and neither WHEELCACHE_TOKEN, the URL nor netrc "
				       "has one that is valid");
}

static bool has_text(const struct fetch_answer *a, const char *text)
{
	return a->body.len && strstr(a->body.data, text);
}

static bool is_json(const struct fetch_answer *a)
{
	return str_starts(fetch_header(a, "content-type"), STR("application/vnd.pypi.simple.v1+json"));
}

// A page of PEP 503 has links and nothing for the eye; one for people has a style or a form.
static bool is_page(const struct fetch_answer *a)
{
	static const char *const marks[] = {"<link ", "<style", "<script", "<form"};
	struct str type = fetch_header(a, "content-type");
	if (str_starts(type, STR("application/vnd.pypi.simple.v1+")))
		return true;
	if (!str_starts(type, STR("text/html")) || !has_text(a, "<a "))
		return false;
	for (size_t i = 0; i < ARRAY_SIZE(marks) && !has_text(a, "pypi:repository-version"); i++)
		if (has_text(a, marks[i]))
			return false;
	return true;
}

// The page of a project has files; that of an index projects.
static bool is_project_page(const struct fetch_answer *a)
{
	if (is_json(a))
		return has_text(a, "\"files\"") && !has_text(a, "\"projects\"");
	return has_text(a, ".whl#") || has_text(a, ".whl\"") || has_text(a, ".tar.gz#") || has_text(a, ".tar.gz\"");
}

static void report_project_page(const struct client_doctor *d)
{
	struct str url = str_from(d->url.text);
	while (url.len && url.ptr[url.len - 1] == '/')
		url.len--;
	CLEANUP(mem_free)
	char *above = xasprintf("use the URL of the index above it: %.*s", (int)(str_rfind(url, '/') + 1), url.ptr);
	doctor_wrong(d->report, "index", above, "%s is the page of one project, and no index", d->url.text);
}

// What a server says that has no index of all platforms.
static bool has_platforms_only(const struct fetch_answer *a)
{
	return a->status == 404 && has_text(a, "each has its own, /PLATFORM/simple/");
}

// Advises the index of a platform, of which the server's own page names those that this client may know. root: the URL
// of that page, which ends in "/".
static void report_platforms_only(const struct client_doctor *d, struct str root)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	CLEANUP(jsondoc_cleanup) struct jsondoc *home = NULL;
	CLEANUP(name_choice_release) struct name_choice names;
	CLEANUP(buf_release) struct buf hint = buf_up_to(ERR_MSG_SIZE);
	CLEANUP(mem_free) char *url = xasprintf(STR_FMT "?format=json", STR_ARG(root));
	name_choice_init(&names, STR(""));
	fetch_answer_init(&a, LIMIT_CLIENT_PAGE);
	if (fetch_get(d->fetch, url, json_headers, &a, &ignored) == 0 && a.status == 200)
		home = jsondoc_read_bounded(buf_view(&a.body), LIMIT_CLIENT_VALUES, &ignored);
	const struct jsondoc *platforms = home ? jsondoc_get(home, "platforms") : NULL;
	for (size_t i = 0; platforms && i < jsondoc_count(platforms); i++)
		name_choice_add(&names, text_of(jsondoc_at(platforms, i), "name"));
	name_choice_hint(&names, &hint);
	CLEANUP(mem_free)
	char *advice = xasprintf("use the index of the platform that this job runs on, " STR_FMT "PLATFORM/simple/%s",
		STR_ARG(root), hint.len ? hint.data : "");
	doctor_wrong(d->report, "index", advice, "%s: each platform of this server has its own index, and there is none of all",
		d->url.text);
}

// The page at the URL is not that of an index. Above one, its URL is the advice.
static void report_not_an_index(const struct client_doctor *d, const char *advice, const char *what)
{
	struct err ignored = ERR_INIT;
	struct str url = str_from(d->url.text);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	CLEANUP(mem_free) char *root = xasprintf(STR_FMT "%s", STR_ARG(url), str_ends(url, STR("/")) ? "" : "/");
	CLEANUP(mem_free) char *index = xasprintf("%ssimple/", root);
	CLEANUP(mem_free) char *below = xasprintf("try %s: the URL of an index ends in /simple/", index);
	bool is_above = !str_ends(url, STR("/simple/")) && !str_ends(url, STR("/simple"));
	fetch_answer_init(&a, LIMIT_CLIENT_ROOT);
	if (is_above && fetch_get(d->fetch, index, page_headers, &a, &ignored) == 0 && has_platforms_only(&a))
		report_platforms_only(d, str_from(root));
	else
		doctor_wrong(d->report, "index", is_above ? below : advice, "%s%s", d->url.text, what);
}

static void report_no_index(const struct client_doctor *d, const struct fetch_answer *a)
{
	const char *host = strstr(d->url.text, "://");
	const char *path = host ? strchr(host + strlen("://"), '/') : NULL;
	const char *simple = path ? strstr(path, "/simple") : NULL;
	if (has_platforms_only(a) && simple)
		report_platforms_only(d, (struct str){d->url.text, (size_t)(simple - d->url.text) + 1});
	else
		report_not_an_index(d,
			"use the URL of an index, as https://HOST/ lists them: https://HOST/PLATFORM/simple/ or "
			"https://HOST/VIEW/simple/",
			": no such index");
}

static void report_other_page(const struct client_doctor *d)
{
	report_not_an_index(d,
		"look at the URL with a browser: a proxy or a login page may answer in place of the index",
		" is no index of packages");
}

// Whether plain HTTP came to a port that speaks HTTPS; the words are those of wheelcache, nginx and Apache.
static bool wants_tls(const struct client_doctor *d, const struct fetch_answer *a)
{
	static const char *const words[] = {"this port speaks HTTPS", "plain HTTP request was sent to HTTPS port",
		"speaking plain HTTP to an SSL-enabled"};
	CLEANUP(mem_free) char *body = xstrndup(a->body.data ? a->body.data : "", a->body.len);
	bool has_words = false;
	for (size_t i = 0; i < ARRAY_SIZE(words); i++)
		has_words |= strstr(body, words[i]) != NULL;
	return a->status == 400 && strcmp(d->url.scheme, "http") == 0 && has_words;
}

static void report_status(const struct client_doctor *d, const struct fetch_answer *a)
{
	struct doctor_report *r = d->report;
	struct str to = fetch_header(a, "location");
	if (a->status == 401 || a->status == 403 || a->status == 429)
		report_no_token(d, a->status);
	else if (a->status == 404)
		report_no_index(d, a);
	else if (a->status == 503)
		doctor_wrong(r, "index", "try again; the operator: wheelcache doctor",
			"the server does not know the content of this view yet: its first scan runs, or a platform is "
			"away");
	else if (a->status >= 300 && a->status < 400)
		doctor_warn(r, "index", "use the URL to which it redirects", "%s redirects to " STR_FMT, d->url.text,
			STR_ARG(to));
	else if (wants_tls(d, a))
		doctor_wrong(r, "TLS", "use the URL that begins with https://",
			"%s is plain HTTP, and the server speaks HTTPS there", d->url.text);
	else if (a->status != 200)
		doctor_wrong(r, "index", "try again; the operator: see the log of the server",
			"%s answers with status %u", d->url.text, a->status);
	else if (!is_page(a))
		report_other_page(d);
	else if (is_project_page(a))
		report_project_page(d);
	else
		doctor_fine(r, "index", "%s is an index", d->url.text);
}

// --- a project ---

// wanted: a specifier set; "": all versions.
static void report_files(const struct client_doctor *d, const char *project, const char *wanted, const char *url,
	const struct fetch_answer *a)
{
	struct err e = ERR_INIT;
	enum simplepage_fault ignored;
	CLEANUP(simplepage_release) struct simplepage page = {0};
	if (simplepage_parse(buf_view(&a->body), fetch_header(a, "content-type"), url, project, &page, &ignored, &e) <
		0) {
		doctor_wrong(d->report, "project", "the operator: see what answers at this URL", "%s: %s", url, e.msg);
		return;
	}
	doctor_fine(d->report, "project", "%s has %s here", project, COUNTED(page.files, "file|files"));
	doctor_install(d->report, d->o->python, wanted, &page);
}

// NAME or NAME==VERSION.
static void ask_project(const struct client_doctor *d)
{
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME);
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	const char *wanted = strstr(d->o->project, "==");
	struct str given = str_from(d->o->project);
	fetch_answer_init(&a, LIMIT_CLIENT_PAGE);
	name_normalize(wanted ? str_slice(given, 0, (size_t)(wanted - d->o->project)) : given, &name);
	size_t len = strlen(d->url.text);
	CLEANUP(mem_free)
	char *url = xasprintf("%s%s%s/", d->url.text, len && d->url.text[len - 1] == '/' ? "" : "/", name.data);
	if (fetch_get(d->fetch, url, page_headers, &a, &e) < 0)
		doctor_wrong(d->report, "project", "try again", "%s", e.msg);
	else if (a.status == 404)
		doctor_wrong(d->report, "project",
			"look at the spelling, and at another view; why a wheel is not there: wheelcache explain",
			"this index has no project %s", name.data);
	else if (a.status != 200)
		doctor_wrong(d->report, "project", "try again", "%s answers with status %u", url, a.status);
	else
		report_files(d, name.data, wanted ? wanted : "", url, &a);
	doctor_lost(d->report, d->fetch, d->url.text, name.data, wanted ? wanted + 2 : NULL);
}

// --- the whole ---

static struct fetch_options client_fetch_options(const struct client_doctor *d)
{
	return (struct fetch_options){
		.ca_file = fetch_ca_file(d->o->ca_file),
		.user = d->url.user ? d->url.user : "__token__",
		.password = d->password,
		.netrc = set_variable("NETRC"),
		.connect_seconds = d->o->timeout,
		.stall_seconds = d->o->timeout,
	};
}

// True if the index was read.
static bool ask_index(const struct client_doctor *d)
{
	struct err e = ERR_INIT;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	const char *proxy = proxy_variable(&d->url);
	fetch_answer_init(&a, LIMIT_CLIENT_ROOT);
	if (proxy)
		doctor_warn(d->report, "proxy", "set no_proxy if the server is inside your network",
			"requests to %s go through the proxy of %s", d->url.host, proxy);
	if (fetch_get(d->fetch, d->url.text, page_headers, &a, &e) < 0) {
		struct doctor_report *r = d->report;
		if (e.kind == ERR_DENIED)
			report_distrust(r, e.msg);
		else if (e.kind == ERR_USAGE)
			doctor_wrong(r, "index", "correct the URL, --ca-file or netrc", "%s", e.msg);
		else if (proxy)
			doctor_wrong(r, "proxy",
				"add the host to no_proxy if it is inside your network, or correct the proxy",
				"through the proxy of %s: %s", proxy, e.msg);
		else
			doctor_wrong(r, "reach",
				"look at the name, the port, the network and its firewalls, and whether the server runs",
				"%s", e.msg);
		return false;
	}
	report_status(d, &a);
	struct str date = fetch_header(&a, "date");
	CLEANUP(mem_free) char *text = xasprintf(STR_FMT, STR_ARG(date));
	doctor_date(d->report, "the server", text);
	return a.status == 200 && is_page(&a) && !is_project_page(&a);
}

// Asks once more with the certificates that a client is told to trust.
static void try_certificates(const struct client_doctor *d, const char *client, const struct client_settings *s)
{
	struct err e = ERR_INIT;
	CLEANUP(fetch_answer_release) struct fetch_answer a;
	const char *cert = s->value[CLIENT_CERT].text;
	struct fetch_options options = client_fetch_options(d);
	options.ca_file = cert;
	fetch_answer_init(&a, LIMIT_CLIENT_ROOT);
	if (!cert || access(cert, R_OK) < 0 || strcmp(d->url.scheme, "https") != 0)
		return;
	struct fetch *fetch = fetch_new(&options);
	bool is_refused = fetch_get(fetch, d->url.text, page_headers, &a, &e) < 0 && e.kind == ERR_DENIED;
	if (is_refused && !is_of_time(e.msg) && !is_of_host(e.msg)) // which no file of authorities mends
		doctor_wrong(d->report, "TLS", "name a file that has the certificate of the server's authority too",
			"%s trusts only the certificates in %s, as %s says: %s", client, cert,
			s->value[CLIENT_CERT].from, e.msg);
	fetch_free(fetch);
}

static void client_doctor_release(struct client_doctor *d)
{
	fetch_free(d->fetch);
	fetch_url_release(&d->url);
}

void doctor_client(struct doctor_report *r, const struct doctor_client_options *o)
{
	struct err e = ERR_INIT;
	CLEANUP(client_doctor_release) struct client_doctor d = {.report = r, .o = o};
	if (fetch_url_parse(o->url, &d.url, &e) < 0) {
		doctor_wrong(r, "index", "use a URL such as https://HOST/simple/", "the URL of the index is wrong: %s",
			e.msg);
		return;
	}
	d.password = d.url.password ? d.url.password : set_variable("WHEELCACHE_TOKEN");
	d.has_token = d.password != NULL;
	const struct fetch_options options = client_fetch_options(&d);
	d.fetch = fetch_new(&options);
	if (ask_index(&d) && o->project)
		ask_project(&d);
	CLEANUP(client_settings_release) struct client_settings pip, uv;
	pip_settings_read(&pip, d.report);
	uv_settings_read(&uv);
	doctor_index(d.report, "pip", &pip, d.url.text, d.o->ca_file);
	doctor_index(d.report, "uv", &uv, d.url.text, d.o->ca_file);
	try_certificates(&d, "pip", &pip);
	try_certificates(&d, "uv", &uv);
}
