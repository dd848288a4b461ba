// SPDX-License-Identifier: Apache-2.0
#include "builder/step/report-pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lib/os/thread-pool.h"

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
