// SPDX-License-Identifier: Apache-2.0
#include "server/http/mhd-workarounds.h"

#include <dlfcn.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

#include "lib/base/mem.h"
#include "lib/base/str.h"
#include "server/message/reply.h"

const char *MHD_get_reason_phrase_for(unsigned status);
size_t MHD_get_reason_phrase_len_for(unsigned status);

int epoll_wait(int epoll, struct epoll_event *events, int room, int timeout)
{
	return epoll_pwait(epoll, events, room > 1 ? room - 1 : room, timeout, NULL);
}

// The length of a header that stands twice in the part; 0: it does not. Of refusals only.
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
	ssize_t sent = syscall(SYS_sendmsg, fd, &once, flags);
	return sent < 0 ? sent : sent + (ssize_t)skipped;
}

static _Thread_local struct {
	unsigned status; // 0: none is set
	bool was_given, was_measured;
	char text[REPLY_PHRASE + 1];
} next_phrase;

void mhd_workarounds_set_phrase(unsigned status, const char *phrase)
{
	next_phrase.status = phrase ? status : 0;
	next_phrase.was_given = next_phrase.was_measured = false;
	size_t len = phrase ? strnlen(phrase, REPLY_PHRASE) : 0;
	if (len)
		memcpy(next_phrase.text, phrase, len);
	next_phrase.text[len] = '\0';
}

// Once: a response that libmicrohttpd makes itself has the phrase of its status.
static bool takes_phrase(unsigned status, bool *was_taken)
{
	bool takes = next_phrase.status == status && !*was_taken;
	*was_taken = true;
	return takes;
}

static const char *phrase_of_status(unsigned status)
{
	static _Atomic(void *) original;
	void *function = atomic_load(&original);
	if (!function)
		atomic_store(&original, function = dlsym(RTLD_NEXT, "MHD_get_reason_phrase_for"));
	const char *(*ask)(unsigned);
	memcpy(&ask, &function, sizeof(ask));
	return ask ? ask(status) : "Unknown";
}

const char *MHD_get_reason_phrase_for(unsigned status)
{
	return takes_phrase(status, &next_phrase.was_given) ? next_phrase.text : phrase_of_status(status);
}

size_t MHD_get_reason_phrase_len_for(unsigned status)
{
	return strlen(takes_phrase(status, &next_phrase.was_measured) ? next_phrase.text : phrase_of_status(status));
}

bool mhd_workarounds_is_lax(const char *version)
{
	return strncmp(version, "0.", 2) == 0;
}

int mhd_workarounds_for_loop(int fd, unsigned loop, unsigned loops)
{
	unsigned number = (unsigned)fd, ahead = (loop % loops + loops - number % loops) % loops;
	int moved = ahead ? fcntl(fd, F_DUPFD_CLOEXEC, (int)(number + ahead)) : -1;
	if (moved < 0)
		return fd; // it belongs to the loop already, or no descriptor is free
	close(fd);
	return moved;
}
