// SPDX-License-Identifier: Apache-2.0
// ZIP framing: the file is one chain of records, each name occurs once, and LENIENT accepts everything that STRICT
// does.
#include "lib/domain/archive/zipframe.h"

#include "lib/base/buf.h"
#include "lib/domain/archive/zipread.h"
#include "tests/fuzz/fuzz.h"

enum { MEMBER_MAX = 64 << 10 };

static void check_name(struct str name)
{
	HOLDS(name.len && str_is_utf8(name));
	for (size_t i = 0; i < name.len; i++)
		HOLDS((unsigned char)name.ptr[i] >= ' ' && name.ptr[i] != 0x7f);
}

static void check_member(const struct byte_source *s, const struct zipdirectory *zip, const struct zipmember *m)
{
	check_name(m->name);
	HOLDS(zipdirectory_find(zip, m->name) == m);
	HOLDS(m->header < m->data && m->data <= zip->offset && m->packed <= zip->offset - m->data);
	struct err e = ERR_INIT;
	CLEANUP(buf_release) struct buf content;
	buf_init(&content, MEMBER_MAX);
	if (m->size <= MEMBER_MAX && zipread_whole(s, m, &content, &e) == 0)
		HOLDS(content.len == m->size);
}

// The end of the record at this offset, without its data descriptor. 0 if no record begins there.
static uint64_t record_end(const struct zipdirectory *zip, uint64_t begin)
{
	for (size_t i = 0; i < zip->count; i++)
		if (zip->members[i].header == begin)
			return zip->members[i].data + zip->members[i].packed;
	return 0;
}

// The records fill the bytes from 0 to the directory without gaps.
static void check_chain(const struct zipdirectory *zip)
{
	static const unsigned descriptor[] = {0, 12, 16, 20, 24};
	uint64_t at = 0, records = 0;
	for (; at < zip->offset; records++) {
		uint64_t end = record_end(zip, at), next = 0;
		for (size_t i = 0; end && i < ARRAY_SIZE(descriptor) && !next; i++)
			if (end + descriptor[i] == zip->offset || record_end(zip, end + descriptor[i]))
				next = end + descriptor[i];
		HOLDS(next > at);
		at = next;
	}
	HOLDS(records == zip->count && at == zip->offset);
}

static bool read_frame(struct str bytes, enum strictness strictness, struct zipdirectory *zip)
{
	struct err e = ERR_INIT;
	struct byte_source s = byte_source_memory(bytes);
	CLEANUP(findings_release) struct findings findings;
	findings_init(&findings);
	if (zipframe_read(&s, strictness, &findings, zip, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		return false;
	}
	HOLDS(zip->offset <= bytes.len && zip->size <= bytes.len - zip->offset);
	HOLDS(e.kind == ERR_NONE);
	check_chain(zip);
	for (size_t i = 0; i < zip->count; i++)
		check_member(&s, zip, &zip->members[i]);
	for (size_t i = 1; i < zip->count; i++)
		HOLDS(str_cmp(zip->by_name[i - 1]->name, zip->by_name[i]->name) < 0);
	return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	struct str text = fuzz_text(bytes, size);
	CLEANUP(zipdirectory_release) struct zipdirectory lenient = {0};
	CLEANUP(zipdirectory_release) struct zipdirectory strict = {0};
	bool is_good = read_frame(text, LENIENT, &lenient);
	if (read_frame(text, STRICT, &strict))
		HOLDS(is_good && lenient.count == strict.count);
	return 0;
}
