// SPDX-License-Identifier: Apache-2.0
#include "lib/base/decimal.h"

// Returns how many digits the text begins with. A number above max is max, and *fits false.
static size_t read_leading_digits(struct str text, uint64_t max, uint64_t *number, bool *fits)
{
	size_t i = 0;
	*number = 0;
	*fits = true;
	for (; i < text.len && ascii_is_digit(text.ptr[i]); i++) {
		uint64_t digit = (uint64_t)(text.ptr[i] - '0');
		*fits = *fits && (*number < max / 10 || (*number == max / 10 && digit <= max % 10));
		*number = *fits ? *number * 10 + digit : max;
	}
	return i;
}

bool decimal_parse(struct str text, uint64_t max, uint64_t *out)
{
	bool fits;
	uint64_t number;
	size_t digits = read_leading_digits(text, max, &number, &fits);
	if (!digits || digits < text.len || !fits)
		return false;
	*out = number;
	return true;
}

bool decimal_cut(struct str *text, uint64_t max, uint64_t *out)
{
	bool fits;
	size_t digits = read_leading_digits(*text, max, out, &fits);
	*text = str_slice(*text, digits, text->len);
	return digits > 0;
}
