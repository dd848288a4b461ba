// SPDX-License-Identifier: Apache-2.0
#include "server/http/accesslog.h"

#include <time.h>

#include "lib/base/limits.h"

// An escaped byte takes four characters; target and headers together have at most LIMIT_REQUEST_HEADER bytes.
enum { LINE_MOST = 4 * LIMIT_REQUEST_HEADER + 512 };

void accesslog_line_init(struct accesslog_line *line)
{
	buf_init(&line->uri, LIMIT_REQUEST_HEADER);
}

void accesslog_line_release(struct accesslog_line *line)
{
	buf_release(&line->uri);
}

void accesslog_note(struct accesslog_line *line, const char *method, const char *version)
{
	snprintf(line->method, sizeof(line->method), "%s", method);
	snprintf(line->version, sizeof(line->version), "%s", version);
}

void accesslog_note_uri(struct accesslog_line *line, const char *uri)
{
	buf_clear(&line->uri);
	buf_puts(&line->uri, uri);
}

static void put_log_text(struct buf *line, const char *text)
{
	for (; text && *text; text++) {
		unsigned char c = (unsigned char)*text;
		if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
			buf_printf(line, "\\x%02x", c);
		else
			buf_putc(line, (char)c);
	}
	if (!text)
		buf_putc(line, '-');
}

void accesslog_write(FILE *out, const struct accesslog_entry *entry)
{
	CLEANUP(buf_release) struct buf line = buf_up_to(LINE_MOST);
	buf_printf(&line, "%s - - ", entry->peer);
	char text[64];
	time_t now = time(NULL);
	struct tm utc;
	gmtime_r(&now, &utc);
	strftime(text, sizeof(text), "[%d/%b/%Y:%H:%M:%S +0000]", &utc);
	buf_puts(&line, text);
	buf_puts(&line, " \"");
	put_log_text(&line, entry->method);
	buf_putc(&line, ' ');
	put_log_text(&line, entry->uri);
	buf_putc(&line, ' ');
	put_log_text(&line, entry->version);
	buf_printf(&line, "\" %u %llu \"-\" \"", entry->status, (unsigned long long)entry->bytes);
	put_log_text(&line, entry->user_agent);
	buf_puts(&line, "\"\n");
	fwrite(line.data, 1, line.len, out);
}
