// SPDX-License-Identifier: Apache-2.0
#include "lib/place/place-address.h"

#include <string.h>

#include "lib/os/fs.h"
#include "lib/place/place-s3.h"

bool place_address_is_whole(const char *address)
{
	return *address == '/' || place_s3_is(address);
}

bool place_address_is_bucket(struct str address)
{
	if (!address.len)
		return false;
	struct err ignored = ERR_INIT;
	CLEANUP(mem_free) char *text = xstrndup(address.ptr, address.len);
	return place_s3_is(text) && place_s3_check(text, &ignored) == 0 && !strchr(place_s3_bucket(text), '/');
}

char *place_address_real(const char *address, struct err *e)
{
	if (!place_s3_is(address))
		return fs_real_path(address, e);
	if (place_s3_check(address, e) < 0)
		return NULL;
	size_t len = str_from(address).len;
	while (address[len - 1] == '/')
		len--;
	return xstrndup(address, len);
}

struct place *place_at(const char *root, const char *address, enum place_posix_links links)
{
	return place_s3_is(address) ? place_s3_new(address) : place_posix_new(root, address, links);
}
