// SPDX-License-Identifier: Apache-2.0
#include "server/http/sockets.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/blob.h"
#include "lib/base/mem.h"
#include "lib/base/str.h"

// --- descriptors with a session ---

struct secured {
	struct tls_session *session; // NULL: it is a probe
	struct sockets_probe *probe;
	void (*ended)(void *ctx);
	void *ctx;
};

enum { PAGES = 4096, PAGE_SLOTS = 1024 };

// By descriptor. Written before libmicrohttpd has the descriptor, and when it closes it.
typedef struct secured *_Atomic slot;
static slot *_Atomic pages[PAGES];

static slot *slot_at(int fd)
{
	unsigned at = (unsigned)fd;
	slot *page = at / PAGE_SLOTS < PAGES ? atomic_load_explicit(&pages[at / PAGE_SLOTS], memory_order_acquire) : NULL;
	return page ? &page[at % PAGE_SLOTS] : NULL;
}

static struct secured *secured_of(int fd)
{
	slot *at = slot_at(fd);
	return at ? atomic_load_explicit(at, memory_order_acquire) : NULL;
}

static void secured_free(struct secured *s)
{
	tls_session_free(s->session);
	s->ended(s->ctx);
	free(s);
}

static bool secure(int fd, struct secured what)
{
	struct secured *s = xmalloc(sizeof(*s));
	*s = what;
	unsigned page = (unsigned)fd / PAGE_SLOTS;
	if (page >= PAGES) {
		close(fd);
		secured_free(s);
		return false;
	}
	if (!atomic_load_explicit(&pages[page], memory_order_relaxed))
		atomic_store_explicit(&pages[page], xcalloc(PAGE_SLOTS, sizeof(slot)), memory_order_release);
	atomic_store_explicit(slot_at(fd), s, memory_order_release);
	return true;
}

bool sockets_secure(int fd, struct tls_session *session, void (*ended)(void *ctx), void *ctx)
{
	tls_move(session, fd);
	return secure(fd, (struct secured){.session = session, .ended = ended, .ctx = ctx});
}

static void end_probe(void *probe)
{
	((struct sockets_probe *)probe)->is_closed = true;
}

bool sockets_probe(int fd, struct sockets_probe *probe)
{
	return secure(fd, (struct secured){.probe = probe, .ended = end_probe, .ctx = probe});
}

// --- the calls ---

// The function that one of this module takes the place of: the C library's, or that of a sanitizer or a preloaded
// library.
#define NEXT(name)                                                                                                     \
	__extension__({                                                                                                \
		static void *_Atomic found_;                                                                           \
		void *function_ = atomic_load_explicit(&found_, memory_order_relaxed);                                 \
		__typeof__(&(name)) call_;                                                                             \
		if (!function_)                                                                                        \
			atomic_store_explicit(&found_, function_ = dlsym(RTLD_NEXT, #name), memory_order_relaxed);     \
		memcpy(&call_, &function_, sizeof(call_));                                                             \
		call_;                                                                                                 \
	})

static ssize_t receive(struct secured *s, char *out, size_t room)
{
	if (s->session)
		return tls_receive(s->session, out, room);
	size_t len = strnlen(s->probe->request + s->probe->received, room);
	memcpy(out, s->probe->request + s->probe->received, len);
	s->probe->received += len;
	errno = EAGAIN;
	return len ? (ssize_t)len : -1;
}

static ssize_t send_parts(struct secured *s, const struct iovec *part, size_t parts)
{
	size_t len = 0;
	if (s->session)
		return tls_send(s->session, part, parts);
	for (size_t i = 0; i < parts; i++)
		len += part[i].iov_len;
	s->probe->sent += len;
	return (ssize_t)len;
}

// The reaper of connections looks at the socket itself (MSG_PEEK).
ssize_t recv(int fd, void *out, size_t room, int flags)
{
	struct secured *s = flags & MSG_PEEK ? NULL : secured_of(fd);
	return s ? receive(s, out, room) : NEXT(recv)(fd, out, room, flags);
}

// Of a file libmicrohttpd sends at most 128 KB at a time, under a lock that all loops share; and where the file has
// shrunk, it waits for the end in vain. So it has mappings of files as bytes in memory, and large ones are passed to
// sendfile(2), unless their file system cannot do without a copy.
// Upstream: MHD_SENFILE_CHUNK_ and the lock of a response in connection.c; the same in 0.9.75 and in 1.0.1.
struct large_file {
	int file; // -1: the bytes are of none
	off_t at;
};

static struct large_file find_large_file(const void *bytes, size_t len)
{
	struct large_file found = {.file = -1};
	if (len >= BLOB_SEND_LEAST)
		found.file = blob_file(bytes, &found.at);
	return found;
}

static ssize_t send_plain(int fd, struct large_file of, const void *bytes, size_t len, int flags)
{
	off_t at = of.at;
	int file = of.file;
	ssize_t sent = file < 0 ? -1 : NEXT(sendfile64)(fd, file, &at, len);
	if (file < 0 || (sent < 0 && (errno == EINVAL || errno == ENOSYS)))
		return NEXT(send)(fd, bytes, len, flags);
	if (sent)
		return sent;
	errno = EFAULT; // the file has shrunk, and ends before these bytes
	return -1;
}

ssize_t send(int fd, const void *bytes, size_t len, int flags)
{
	struct secured *s = secured_of(fd);
	struct iovec part = {.iov_len = len};
	memcpy(&part.iov_base, &bytes, sizeof(bytes));
	return s ? send_parts(s, &part, 1) : send_plain(fd, find_large_file(bytes, len), bytes, len, flags);
}

// The header waits for the first bytes of the body, which share its packet.
static ssize_t send_head_and_file(int fd, struct large_file of, const struct iovec *part, int flags)
{
	ssize_t head = NEXT(send)(fd, part[0].iov_base, part[0].iov_len, flags | MSG_MORE);
	if (head < 0 || (size_t)head < part[0].iov_len)
		return head;
	ssize_t body = send_plain(fd, of, part[1].iov_base, part[1].iov_len, flags);
	return body < 0 ? head : head + body; // the next call has the error
}

// Of a malformed Content-Length libmicrohttpd puts the header of its refusal twice into its buffer, so that the second
// one takes the place of the body. A header of a refusal that stands there twice is sent once.
// Upstream: parse_connection_headers() goes on after transmit_error_response_static() has built the header (0.9.75).
// Not reported upstream.
//
// The length of a header that stands twice in the part; 0: it does not.
static size_t find_second_header(const struct iovec *part)
{
	static const struct str begin = STR("HTTP/1.1 4"), end = STR("\r\n\r\n");
	struct str first = {part->iov_base, part->iov_len / 2};
	bool is_refusal = part->iov_len % 2 == 0 && str_starts(first, begin) && str_ends(first, end);
	return is_refusal && memcmp(first.ptr, first.ptr + first.len, first.len) == 0 ? first.len : 0;
}

ssize_t sendmsg(int fd, const struct msghdr *message, int flags)
{
	struct iovec part[2];
	struct msghdr once = *message;
	size_t skipped = message->msg_iovlen == ARRAY_SIZE(part) ? find_second_header(message->msg_iov) : 0;
	if (skipped) {
		memcpy(part, message->msg_iov, sizeof(part));
		part[0] = (struct iovec){(char *)part[0].iov_base + skipped, skipped};
		once.msg_iov = part;
	}
	struct secured *s = secured_of(fd);
	const struct iovec *body = message->msg_iovlen == ARRAY_SIZE(part) ? &message->msg_iov[1] : NULL;
	struct large_file of = !s && body ? find_large_file(body->iov_base, body->iov_len) : (struct large_file){.file = -1};
	if (of.file >= 0)
		return send_head_and_file(fd, of, message->msg_iov, flags);
	ssize_t sent = s ? send_parts(s, once.msg_iov, once.msg_iovlen) : NEXT(sendmsg)(fd, &once, flags);
	return sent < 0 ? sent : sent + (ssize_t)skipped;
}

// libmicrohttpd says that nothing more will be sent when it ends a connection. All other ends are of the socket alone:
// any thread may cause them.
int shutdown(int fd, int how)
{
	struct secured *s = how == SHUT_WR ? secured_of(fd) : NULL;
	if (s && s->session)
		tls_end(s->session);
	return NEXT(shutdown)(fd, how);
}

int close(int fd)
{
	slot *at = slot_at(fd);
	struct secured *s = at ? atomic_load_explicit(at, memory_order_acquire) : NULL;
	if (s)
		atomic_store_explicit(at, NULL, memory_order_release);
	int result = NEXT(close)(fd);
	if (s)
		secured_free(s);
	return result;
}

// libmicrohttpd reads the file itself where this fails.
ssize_t sendfile64(int fd, int from, off64_t *at, size_t len)
{
	if (!secured_of(fd))
		return NEXT(sendfile64)(fd, from, at, len);
	errno = EINVAL;
	return -1;
}
