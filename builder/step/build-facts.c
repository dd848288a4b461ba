// SPDX-License-Identifier: Apache-2.0
#include "builder/step/build-facts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/base/limits.h"
#include "lib/domain/text/name.h"
#include "lib/net/fetch.h"
#include "lib/os/thread-pool.h"

enum { ASK_SECONDS = 60 };

struct jsondoc *build_facts_begin(const struct config *config, const struct missing_row *row, const char *index,
	const char *host)
{
	struct err ignored = ERR_INIT;
	CLEANUP(fetch_url_release) struct fetch_url url = {0};
	struct jsondoc *p = jsondoc_object(), *branches = jsondoc_array();
	for (size_t i = 0; i < row->branches; i++)
		jsondoc_add_str(branches, row->branch[i]);
	jsondoc_put_str(p, "builder", "wheelcache " PACKAGE_VERSION);
	jsondoc_put_str(p, "host", host);
	jsondoc_put_str(p, "note", config->build_note);
	jsondoc_put(p, "branches", branches);
	jsondoc_put_str(p, "wrap", config->build_wrap);
	// Of the machine itself: behind [build] wrap the build may have another one.
	char text[LIMIT_NOTE] = "";
#ifdef _CS_GNU_LIBC_VERSION
	if (confstr(_CS_GNU_LIBC_VERSION, text, sizeof(text)) == 0)
		text[0] = '\0';
#endif
	if (*text)
		jsondoc_put_str(p, "host_libc", text);
	if (fetch_url_parse(index, &url, &ignored) == 0)
		jsondoc_put_str(p, "index", url.text);
	return p;
}

// --- the machine ---

static const char machine_script[] =
	"import json, os, platform, shlex, subprocess, sys\n"
	"def first_line(*argv):\n"
	"    try:\n"
	"        out = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,\n"
	"                             stderr=subprocess.STDOUT, timeout=20).stdout\n"
	"        return out.decode('utf-8', 'replace').splitlines()[0][:200]\n"
	"    except Exception:\n"
	"        return None\n"
	"def libc():\n"
	"    try:\n"
	"        return os.confstr('CS_GNU_LIBC_VERSION')\n"
	"    except Exception:\n"
	"        return first_line('ldd', '--version')\n"
	"def system():\n"
	"    try:\n"
	"        with open('/etc/os-release', encoding='utf-8') as f:\n"
	"            return dict(line.rstrip().split('=', 1) for line in f if '=' in line)['PRETTY_NAME'].strip('\"')[:200]\n"
	"    except Exception:\n"
	"        return None\n"
	"compiler = os.environ.get('CC', 'cc').split() or ['cc']\n"
	// The levels of the x86-64 psABI, by the macros that GCC and Clang define.
	"LEVELS = ['SSE3 SSSE3 SSE4_1 SSE4_2 POPCNT', 'AVX AVX2 BMI BMI2 F16C FMA LZCNT MOVBE',\n"
	"          'AVX512F AVX512BW AVX512CD AVX512DQ AVX512VL']\n"
	"def cpu_baseline():\n"
	"    try:\n"
	"        argv = compiler + shlex.split(os.environ.get('CFLAGS', '')) + '-dM -E -x c /dev/null'.split()\n"
	"        out = subprocess.run(argv, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL,\n"
	"                             timeout=20).stdout.decode('utf-8', 'replace')\n"
	"        macros = dict((line.split(None, 2) + ['', ''])[1:3] for line in out.splitlines())\n"
	"    except Exception:\n"
	"        return None\n"
	"    if '__aarch64__' in macros:\n"
	"        return 'armv' + macros.get('__ARM_ARCH', '')[:3].strip()\n"
	"    if '__x86_64__' not in macros:\n"
	"        return None\n"
	"    level = 1\n"
	"    while level <= len(LEVELS) and all('__%s__' % name in macros for name in LEVELS[level - 1].split()):\n"
	"        level += 1\n"
	"    return 'x86-64' if level == 1 else 'x86-64-v%d' % level\n"
	"facts = {'interpreter': platform.python_implementation() + ' ' + platform.python_version(),\n"
	"         'compiler': first_line(*compiler, '--version'), 'cpu_baseline': cpu_baseline(), 'libc': libc(),\n"
	"         'system': system()}\n"
	"with open(sys.argv[1], 'w', encoding='utf-8') as f:\n"
	"    json.dump(facts, f)\n";

static struct jsondoc *ask_json(struct sandbox *r, const char *script, const char *argument, struct err *e)
{
	CLEANUP(buf_release) struct buf text = buf_up_to(LIMIT_BUILD_ANSWER);
	if (sandbox_ask(r, script, argument, ASK_SECONDS, &text, e) < 0)
		return NULL;
	return jsondoc_read(buf_view(&text), e);
}

int build_facts_machine(struct sandbox *r, struct jsondoc *provenance, struct err *e)
{
	static const char *const keys[] = {"interpreter", "compiler", "cpu_baseline", "libc", "system"};
	CLEANUP(jsondoc_cleanup) struct jsondoc *facts = ask_json(r, machine_script, "", e);
	if (!facts)
		return err_prefix(e, "%s does not run: ", r->interpreter);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (jsondoc_get_str(facts, keys[i]))
			jsondoc_put_str(provenance, keys[i], jsondoc_get_str(facts, keys[i]));
	return 0;
}

// --- what pip installed ---

static bool is_short(const char *text)
{
	return text && strlen(text) <= LIMIT_FILE_NAME;
}

static void add_normal_name(struct strset *out, const char *text)
{
	CLEANUP(buf_release) struct buf name = buf_up_to(LIMIT_FILE_NAME);
	name_normalize(str_from(text), &name);
	strset_add(out, name.data);
}

struct installed {
	struct jsondoc *list;
	struct strset *names;
};

void build_facts_requirements(struct str reports, struct jsondoc *provenance, struct strset *names)
{
	struct err ignored = ERR_INIT;
	struct installed all = {jsondoc_array(), names};
	for (struct str rest = reports; str_trim(rest).len;) {
		CLEANUP(jsondoc_cleanup) struct jsondoc *report = jsondoc_next(&rest, &ignored);
		if (!report)
			break; // not of pip, or cut at the limit
		const struct jsondoc *install = jsondoc_get(report, "install");
		for (size_t i = 0; install && i < jsondoc_count(install); i++)
			if (jsondoc_count(all.list) < LIMIT_BUILD_REQUIREMENTS) {
				const struct jsondoc *item = jsondoc_at(install, i);
				const struct jsondoc *metadata = jsondoc_get(item, "metadata");
				const char *name = metadata ? jsondoc_get_str(metadata, "name") : NULL;
				const char *version = metadata ? jsondoc_get_str(metadata, "version") : NULL;
				const struct jsondoc *info = jsondoc_get(item, "download_info");
				const struct jsondoc *archive = info ? jsondoc_get(info, "archive_info") : NULL;
				const struct jsondoc *hashes = archive ? jsondoc_get(archive, "hashes") : NULL;
				const char *hash = hashes ? jsondoc_get_str(hashes, "sha256") : NULL;
				if (is_short(name) && is_short(version) && name_is_valid(str_from(name))) {
					struct jsondoc *row = jsondoc_object();
					jsondoc_put_str(row, "name", name);
					jsondoc_put_str(row, "version", version);
					jsondoc_put_str(row, "sha256", is_short(hash) ? hash : NULL);
					jsondoc_add(all.list, row);
					add_normal_name(all.names, name);
				}
			}
	}
	strset_sort(names);
	jsondoc_put(provenance, "requirements", all.list);
}

// --- what the sdist asks for ---

// PEP 518: without pyproject.toml or build-system.requires it is setuptools. The names alone: which version there is is
// not asked here.
static const char wanted_script[] =
	"import json, re, sys, tarfile, zipfile\n"
	"def load(data):\n"
	"    try:\n"
	"        import tomllib\n"
	"    except ImportError:\n"
	"        try:\n"
	"            import tomli as tomllib\n"
	"        except ImportError:\n"
	"            from pip._vendor import tomli as tomllib\n"
	"    return tomllib.loads(data.decode('utf-8'))\n"
	"def wanted_here(line):\n"
	"    try:\n"
	"        from pip._vendor.packaging.requirements import Requirement\n"
	"    except ImportError:\n"
	"        return True\n"
	"    marker = Requirement(line).marker\n"
	"    return marker is None or marker.evaluate({'extra': ''})\n"
	"def pyproject(path):\n"
	"    pattern = re.compile(r'[^/]+/pyproject[.]toml$')\n"
	"    if zipfile.is_zipfile(path):\n"
	"        with zipfile.ZipFile(path) as z:\n"
	"            for info in z.infolist():\n"
	"                if pattern.match(info.filename) and info.file_size < 1 << 20:\n"
	"                    return z.read(info)\n"
	"        return None\n"
	"    with tarfile.open(path) as t:\n"
	"        for member in t:\n"
	"            if pattern.match(member.name) and member.isfile() and member.size < 1 << 20:\n"
	"                return t.extractfile(member).read()\n"
	"    return None\n"
	"data = pyproject(sys.argv[2])\n"
	"system = load(data).get('build-system', {}) if data else {}\n"
	"lines = [line for line in system.get('requires', ['setuptools']) if wanted_here(line)]\n"
	"with open(sys.argv[1], 'w', encoding='utf-8') as f:\n"
	"    json.dump([re.match(r'\\s*([A-Za-z0-9._-]+)', line).group(1) for line in lines], f)\n";

void build_facts_wanted(struct sandbox *r, struct strset *out)
{
	struct err ignored = ERR_INIT;
	CLEANUP(jsondoc_cleanup) struct jsondoc *names = ask_json(r, wanted_script, "%s", &ignored);
	for (size_t i = 0; names && i < jsondoc_count(names) && i < LIMIT_BUILD_REQUIREMENTS; i++) {
		const char *text = jsondoc_at_str(names, i);
		if (is_short(text) && name_is_valid(str_from(text)))
			add_normal_name(out, text);
	}
	strset_sort(out);
}

// --- the pipe of pip's reports ---

struct report_pipe {
	char *path;
	int fd, end; // the pipe; readable once it is to be closed
	struct buf text;
	struct thread_pool *thread;
};

// False once nothing is there to be read.
static bool take_piece(struct report_pipe *p)
{
	char block[1 << 14];
	ssize_t n = read(p->fd, block, sizeof(block));
	if (n > 0)
		buf_add(&p->text, block, (size_t)n);
	return n > 0 || (n < 0 && errno == EINTR);
}

static void empty_pipe(void *pipe)
{
	struct report_pipe *p = pipe;
	struct pollfd wait[] = {{.fd = p->fd, .events = POLLIN}, {.fd = p->end, .events = POLLIN}};
	while (!wait[1].revents) {
		if (poll(wait, ARRAY_SIZE(wait), -1) < 0)
			continue;
		while (take_piece(p))
			;
	}
}

static void report_pipe_free(struct report_pipe *p)
{
	if (p->path)
		unlink(p->path);
	mem_close(&p->fd);
	mem_close(&p->end);
	buf_release(&p->text);
	free(p->path);
	free(p);
}

int report_pipe_open(const char *path, size_t most, struct report_pipe **out, struct err *e)
{
	struct report_pipe *p = xcalloc(1, sizeof(*p));
	*p = (struct report_pipe){.fd = -1, .end = -1};
	buf_init(&p->text, most);
	// Open for writing too: it is never at its end, and no program waits for a reader.
	if (mkfifo(path, S_IRUSR | S_IWUSR) == 0) {
		p->path = xstrdup(path);
		p->fd = open(path, O_RDWR | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
	}
	if (p->fd >= 0)
		p->end = eventfd(0, EFD_CLOEXEC);
	if (p->end < 0) {
		err_errno(e, ERR_IO, "%s", path);
		report_pipe_free(p);
		return -1;
	}
	p->thread = thread_pool_new(1, THREAD_POOL_FIRST_IN_FIRST_OUT, "report");
	thread_pool_submit(p->thread, empty_pipe, p);
	*out = p;
	return 0;
}

void report_pipe_close(struct report_pipe *p, struct buf *out)
{
	if (!p)
		return;
	eventfd_write(p->end, 1);
	thread_pool_free(p->thread);
	if (out)
		buf_str(out, buf_view(&p->text));
	report_pipe_free(p);
}
