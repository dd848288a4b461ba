// SPDX-License-Identifier: Apache-2.0
#include "lib/readme/markdown-bounds.h"

#include <stdint.h>

#include "lib/base/limits.h"

struct markdown_counts {
	size_t lines;
	size_t markers; // of the line that has most
	size_t columns; // of the line that has most and may be the second of a table
	size_t scans;   // beginnings of raw HTML of which each one is searched for its end
	size_t links;   // ends of labels
	size_t inline_links;
	size_t definition; // bytes of the longest definition of a link, at least
};

// Characters of the lines that begin quotes and lists; and of the second line of a table.
static bool is_marker(char c)
{
	return c == '>' || c == '*' || c == '+' || c == '-' || c == '.' || c == ')';
}

static bool is_between(char c)
{
	return c == ' ' || c == '\t' || ascii_is_digit(c);
}

static size_t count_markers(struct str line)
{
	size_t markers = 0;
	for (size_t i = 0; i < line.len && (is_marker(line.ptr[i]) || is_between(line.ptr[i])); i++) {
		bool ends_marker = i + 1 == line.len || is_between(line.ptr[i + 1]) || line.ptr[i] == '>';
		markers += is_marker(line.ptr[i]) && ends_marker;
	}
	return markers;
}

static size_t count_columns(struct str line)
{
	size_t columns = 1;
	for (size_t i = 0; i < line.len; i++) {
		char c = line.ptr[i];
		if (c != '|' && c != ':' && c != '\v' && c != '\f' && !is_marker(c) && !is_between(c))
			return 0;
		columns += c == '|';
	}
	return columns;
}

static void count_line(struct markdown_counts *n, struct str line)
{
	size_t markers = count_markers(line), columns = count_columns(line);
	n->lines++;
	n->markers = markers > n->markers ? markers : n->markers;
	n->columns = columns > n->columns ? columns : n->columns;
}

static size_t skip_blanks(struct str s, size_t at)
{
	while (at < s.len && (s.ptr[at] == ' ' || s.ptr[at] == '\t' || s.ptr[at] == '\n'))
		at++;
	return at;
}

// The bytes of the target and the title of the definition whose "]:" ends at this offset, at most about `most`. The
// title is what makes a definition long over several lines; it ends with its quote.
static size_t definition_length(struct str s, size_t at, size_t most)
{
	size_t from = at = skip_blanks(s, at);
	bool is_pointed = at < s.len && s.ptr[at] == '<';
	while (at < s.len && at - from < most && s.ptr[at] != '\n' && (is_pointed || s.ptr[at] != ' '))
		at++;
	at = skip_blanks(s, at);
	char quote = at < s.len ? s.ptr[at] : '\0';
	if (quote != '"' && quote != '\'' && quote != '(')
		return at - from;
	quote = quote == '(' ? ')' : quote;
	for (at++; at < s.len && at - from < most && s.ptr[at] != quote; at++)
		at += s.ptr[at] == '\\';
	return at - from;
}

static void count_bytes(struct markdown_counts *n, struct str s)
{
	for (size_t i = 0; i + 1 < s.len; i++) {
		char next = s.ptr[i + 1];
		bool is_comment = i + 3 < s.len && next == '!' && s.ptr[i + 2] == '-';
		n->scans += s.ptr[i] == '<' && (next == '?' || (next == '!' && !is_comment));
		n->links += s.ptr[i] == ']';
		n->inline_links += s.ptr[i] == ']' && next == '(';
	}
	n->links++;
	size_t most = LIMIT_README_EXPANDED / n->links + 1;
	for (size_t i = 0; i + 1 < s.len && n->definition < most; i++) {
		size_t len = s.ptr[i] == ']' && s.ptr[i + 1] == ':' ? definition_length(s, i + 2, most) : 0;
		n->definition = len > n->definition ? len : n->definition;
	}
}

const char *markdown_excess(struct str text)
{
	struct markdown_counts n = {0};
	count_bytes(&n, text);
	for (struct str rest = text; rest.len;)
		count_line(&n, str_cut(&rest, '\n'));
	const struct {
		uint64_t count, limit;
		const char *words;
	} of[] = {
		{n.markers, LIMIT_README_MARKERS, "quotes or lists within each other"},
		{n.columns, LIMIT_README_COLUMNS, "columns in a table"},
		{(n.columns < 2 ? 0 : n.columns) * n.lines, LIMIT_README_CELLS, "cells in tables"},
		{n.scans, LIMIT_README_SCANS, "pieces of raw HTML"},
		{(uint64_t)n.definition * n.links, LIMIT_README_EXPANDED, "links to long targets"},
		{n.inline_links, LIMIT_README_LINKS, "links"},
	};
	for (size_t i = 0; i < sizeof(of) / sizeof(of[0]); i++)
		if (of[i].count > of[i].limit)
			return of[i].words;
	return NULL;
}
