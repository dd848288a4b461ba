// SPDX-License-Identifier: Apache-2.0
#include "lib/facts/wheel-reading.h"

#include "lib/base/limits.h"

void wheel_reading_release(struct wheel_reading *r)
{
	zipdirectory_release(&r->zip);
	zipload_trim(r->load);
}

void wheel_reading_cut(struct wheel_reading *r, const char *why)
{
	if (!r->out->is_cut)
		r->out->cut = arena_copy(&r->out->text, str_from(why));
	r->out->is_cut = true;
}

uint64_t wheel_reading_most(uint64_t size)
{
	uint64_t most = (uint64_t)LIMIT_FACTS_UNPACKED_GIB << 30;
	return size > most / LIMIT_UNPACKED_RATIO ? most : LIMIT_UNPACKED + size * LIMIT_UNPACKED_RATIO;
}

int wheel_reading_spend(struct wheel_reading *r, uint64_t size, struct err *e)
{
	if (size > r->unpacked_left)
		return err_set(e, ERR_LIMIT, "the members of the wheel unpack to too many bytes");
	r->unpacked_left -= size;
	return 0;
}

int wheel_reading_load(struct wheel_reading *r, const struct zipmember *m, uint64_t most, struct str *bytes,
	struct err *e)
{
	if (m->size > most)
		return err_set(e, ERR_LIMIT, "%llu bytes, more than %llu", (unsigned long long)m->size,
			(unsigned long long)most);
	if (wheel_reading_spend(r, m->size, e) < 0)
		return -1;
	return zipload_whole(r->load, m, bytes, e);
}
