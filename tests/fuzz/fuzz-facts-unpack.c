// SPDX-License-Identifier: Apache-2.0
// Packed facts of a wheel, as a catalog has them, and the same before compression: what can be unpacked is packed
// again.
#include "lib/facts/wheel-facts.h"
#include "lib/format/compress.h"
#include "tests/fuzz/fuzz.h"

enum { PACKED_MAX = 64 << 20, VERSION_SIZE = 4 };

static bool unpack_and_pack(struct str packed, struct buf *again)
{
	CLEANUP(wheel_facts_release) struct wheel_facts facts = {0};
	struct err e = ERR_INIT;
	buf_init(again, PACKED_MAX);
	if (wheel_facts_unpack(packed, &facts, &e) < 0) {
		HOLDS((e.kind == ERR_INVALID || e.kind == ERR_LIMIT) && e.msg[0]);
		return false;
	}
	HOLDS(wheel_facts_pack(&facts, again, &e) == 0);
	return true;
}

// Numbers have several forms; packing has one of them.
static void check_facts_unpack(struct str packed)
{
	CLEANUP(buf_release) struct buf one = {0}, other = {0};
	if (unpack_and_pack(packed, &one))
		HOLDS(unpack_and_pack(buf_view(&one), &other) && str_eq(buf_view(&one), buf_view(&other)));
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size)
{
	CLEANUP(buf_release) struct buf packed, empty = {0};
	struct wheel_facts none = {0};
	struct str text = fuzz_text(bytes, size);
	struct err e = ERR_INIT;
	check_facts_unpack(text);
	buf_init(&empty, PACKED_MAX);
	buf_init(&packed, PACKED_MAX);
	HOLDS(wheel_facts_pack(&none, &empty, &e) == 0);
	buf_add(&packed, empty.data, VERSION_SIZE);
	HOLDS(compress_zstd(text, 1, &packed, &e) == 0);
	check_facts_unpack(buf_view(&packed));
	return 0;
}
