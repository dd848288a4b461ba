// SPDX-License-Identifier: Apache-2.0
#include "tests/unit/support/small-s3.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "lib/net/fetch.h"
#include "lib/os/clock.h"
#include "lib/place/s3-request.h"

struct engine {
	pid_t pid;
	int stdin_fd; // its end ends the small S3
	char url[200], bucket[64];
	char *folder; // of versitygw; NULL: none
};

enum { WORDS = 24, PORTS = 20, START_MS = 20000 };

static void must(bool is_good, const char *what)
{
	if (is_good)
		return;
	fprintf(stderr, "an engine for tests: %s\n", what);
	abort();
}

static void set_keys(void)
{
	setenv("AWS_ACCESS_KEY_ID", "test", 1);
	setenv("AWS_SECRET_ACCESS_KEY", "secret", 1);
	setenv("AWS_EC2_METADATA_DISABLED", "true", 1);
}

struct engine *small_s3_new(const char *const *options)
{
	const char *top = getenv("srcdir");
	const char *words[WORDS] = {"python3"};
	struct engine *g = xcalloc(1, sizeof(*g));
	CLEANUP(mem_free) char *program = xasprintf("%s/tests/e2e/small_s3.py", top ? top : ".");
	int in[2], out[2];
	words[1] = program;
	for (size_t i = 0; options && options[i]; i++)
		words[i + 2] = options[i];
	must(pipe2(in, O_CLOEXEC) == 0 && pipe2(out, O_CLOEXEC) == 0, "pipe");
	g->pid = fork();
	if (g->pid == 0) {
		dup2(in[0], STDIN_FILENO);
		dup2(out[1], STDOUT_FILENO);
		execvp(words[0], (char **)(void *)words);
		_exit(127);
	}
	close(in[0]);
	close(out[1]);
	g->stdin_fd = in[1];
	FILE *said = fdopen(out[0], "r");
	must(said && fgets(g->url, sizeof(g->url), said), "small_s3.py does not start");
	fclose(said);
	g->url[strcspn(g->url, "\n")] = '\0';
	set_keys();
	return g;
}

// Unpacks it once for all tests of this machine. NULL: it is not there.
static char *find_versitygw(void)
{
	const char *given = getenv("VERSITYGW"), *top = getenv("srcdir"), *tmp = getenv("TMPDIR");
	if (given)
		return xstrdup(given);
	CLEANUP(mem_free) char *packed = xasprintf("%s/../shared/engines/versitygw.xz", top ? top : ".");
	CLEANUP(mem_free) char *program = xasprintf("%s/wheelcache-versitygw-%d", tmp ? tmp : "/tmp", (int)getuid());
	if (access(packed, R_OK) < 0)
		return NULL;
	CLEANUP(mem_free)
	char *command = xasprintf("test -x %s || { xz -dc %s >%s.%d && chmod +x %s.%d && mv %s.%d %s; }", program, packed, program,
		(int)getpid(), program, (int)getpid(), program, (int)getpid(), program);
	return system(command) == 0 ? STEAL_PTR(program) : NULL;
}

static bool is_up(const char *url)
{
	struct err ignored = ERR_INIT;
	struct fetch_answer answer;
	const struct fetch_options options = {.connect_seconds = 5, .stall_seconds = 5, .is_direct = true};
	struct fetch *f = fetch_new(&options);
	fetch_answer_init(&answer, 1 << 20);
	bool is_there = fetch_get(f, url, NULL, &answer, &ignored) == 0;
	fetch_answer_release(&answer);
	fetch_free(f);
	return is_there;
}

static void start_versitygw(struct engine *g, const char *program, unsigned port)
{
	char address[32];
	snprintf(address, sizeof(address), "127.0.0.1:%u", port);
	snprintf(g->url, sizeof(g->url), "http://%s", address);
	g->pid = fork();
	if (g->pid)
		return;
	int nowhere = open("/dev/null", O_RDWR);
	dup2(nowhere, STDOUT_FILENO);
	dup2(nowhere, STDERR_FILENO);
	setenv("ROOT_ACCESS_KEY", "test", 1);
	setenv("ROOT_SECRET_KEY", "secret", 1);
	execl(program, program, "--port", address, "posix", g->folder, (char *)NULL);
	_exit(127);
}

// It takes no port 0: another one is tried until it serves.
struct engine *versitygw_new(void)
{
	CLEANUP(mem_free) char *program = find_versitygw();
	if (!program)
		return NULL;
	char name[] = "versitygw.XXXXXX";
	struct engine *g = xcalloc(1, sizeof(*g));
	g->stdin_fd = -1;
	must(mkdtemp(name) != NULL, "mkdtemp");
	g->folder = xstrdup(name);
	for (unsigned i = 0; i < PORTS; i++) {
		start_versitygw(g, program, 20000 + (unsigned)(getpid() * 7 + (int)i * 101) % 10000);
		for (int64_t until = clock_ms() + START_MS; clock_ms() < until && waitpid(g->pid, NULL, WNOHANG) == 0;) {
			if (is_up(g->url)) {
				set_keys();
				return g;
			}
			poll(NULL, 0, 50);
		}
	}
	must(false, "versitygw does not start");
	return NULL;
}

void engine_free(struct engine *g)
{
	if (!g)
		return;
	if (g->stdin_fd >= 0)
		close(g->stdin_fd);
	kill(g->pid, SIGTERM);
	waitpid(g->pid, NULL, 0);
	CLEANUP(mem_free) char *command = g->folder ? xasprintf("rm -r '%s'", g->folder) : NULL;
	if (command && system(command) != 0)
		fprintf(stderr, "%s stays\n", g->folder);
	free(g->folder);
	free(g);
}

const char *engine_url(const struct engine *g)
{
	return g->url;
}

const char *engine_bucket(struct engine *g)
{
	static unsigned count;
	snprintf(g->bucket, sizeof(g->bucket), "bucket-%d-%u", (int)getpid(), ++count);
	CLEANUP(mem_free) char *path = g->folder ? xasprintf("%s/%s", g->folder, g->bucket) : NULL;
	must(!path || mkdir(path, 0755) == 0, "mkdir");
	s3_bucket_configure(&(struct s3_settings){.bucket = g->bucket, .endpoint = g->url});
	return g->bucket;
}

void small_s3_control(struct engine *g, const char *method, const char *what, const char *body, struct buf *out)
{
	struct err e = ERR_INIT;
	struct fetch_answer answer;
	const struct fetch_options options = {.connect_seconds = 30, .stall_seconds = 30, .is_direct = true};
	CLEANUP(mem_free) char *url = xasprintf("%s/-/%s", g->url, what);
	struct fetch *f = fetch_new(&options);
	fetch_answer_init(&answer, 1 << 20);
	const struct byte_source bytes = byte_source_memory(str_from(body ? body : ""));
	const struct fetch_call call = {
		.method = method, .url = url, .body = body ? &bytes : NULL, .size = body ? bytes.size : 0};
	must(fetch_call(f, &call, &answer, &e) == 0 && answer.status < 300, "no control");
	if (out)
		buf_str(out, buf_view(&answer.body));
	fetch_answer_release(&answer);
	fetch_free(f);
}
