// SPDX-License-Identifier: Apache-2.0
// The arguments of functions that take a form and its values, such as jsondoc_set() and html_put(): each value as what
// its type says, so that a form may name a wrong kind, but never a wrong size. A number is any integer. Constant data.
#pragma once

#include <stdint.h>

struct jsondoc;

struct form_value {
	const char *text;
	int64_t number;
	double real;
	const void *bytes; // a hash, or a document
};

static inline struct form_value form_text(const char *text)
{
	return (struct form_value){.text = text};
}
static inline struct form_value form_number(int64_t number)
{
	return (struct form_value){.number = number};
}
static inline struct form_value form_real(double real)
{
	return (struct form_value){.real = real, .number = (int64_t)real};
}
static inline struct form_value form_bytes(const void *bytes)
{
	return (struct form_value){.bytes = bytes};
}

#define FORM_1(x)                                                                                                      \
	_Generic((x), char *: form_text, const char *: form_text, double: form_real, void *: form_bytes,               \
		uint8_t *: form_bytes, const uint8_t *: form_bytes, struct jsondoc *: form_bytes, default: form_number)(x)
#define FORM_2(x, ...) FORM_1(x), FORM_1(__VA_ARGS__)
#define FORM_3(x, ...) FORM_1(x), FORM_2(__VA_ARGS__)
#define FORM_4(x, ...) FORM_1(x), FORM_3(__VA_ARGS__)
#define FORM_5(x, ...) FORM_1(x), FORM_4(__VA_ARGS__)
#define FORM_6(x, ...) FORM_1(x), FORM_5(__VA_ARGS__)
#define FORM_7(x, ...) FORM_1(x), FORM_6(__VA_ARGS__)
#define FORM_8(x, ...) FORM_1(x), FORM_7(__VA_ARGS__)
#define FORM_9(x, ...) FORM_1(x), FORM_8(__VA_ARGS__)
#define FORM_10(x, ...) FORM_1(x), FORM_9(__VA_ARGS__)
#define FORM_11(x, ...) FORM_1(x), FORM_10(__VA_ARGS__)
#define FORM_12(x, ...) FORM_1(x), FORM_11(__VA_ARGS__)
#define FORM_13(x, ...) FORM_1(x), FORM_12(__VA_ARGS__)
#define FORM_14(x, ...) FORM_1(x), FORM_13(__VA_ARGS__)
#define FORM_15(x, ...) FORM_1(x), FORM_14(__VA_ARGS__)
#define FORM_16(x, ...) FORM_1(x), FORM_15(__VA_ARGS__)
#define FORM_17(x, ...) FORM_1(x), FORM_16(__VA_ARGS__)
#define FORM_18(x, ...) FORM_1(x), FORM_17(__VA_ARGS__)
#define FORM_19(x, ...) FORM_1(x), FORM_18(__VA_ARGS__)
#define FORM_20(x, ...) FORM_1(x), FORM_19(__VA_ARGS__)
#define FORM_PICK(v1, v2, v3, v4, v5, v6, v7, v8, v9, v10, v11, v12, v13, v14, v15, v16, v17, v18, v19, v20, name,     \
	...)                                                                                                           \
	name
// The form and up to 19 values, as an array.
#define FORM_VALUES(...)                                                                                               \
	((const struct form_value[]){FORM_PICK(__VA_ARGS__, FORM_20, FORM_19, FORM_18, FORM_17, FORM_16, FORM_15,      \
		FORM_14, FORM_13, FORM_12, FORM_11, FORM_10, FORM_9, FORM_8, FORM_7, FORM_6, FORM_5, FORM_4, FORM_3,   \
		FORM_2, FORM_1, none)(__VA_ARGS__)})
