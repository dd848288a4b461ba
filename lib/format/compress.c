// SPDX-License-Identifier: Apache-2.0
#include "lib/format/compress.h"

#include <endian.h>
#include <libdeflate.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

enum {
	GZIP_WINDOW = 15 + 16, // zlib's code for a 32 KiB window and a gzip header
	BLOCK = 64 << 10,
};

static void inflate_done(z_stream *z)
{
	inflateEnd(z);
}

// --- gzip: an encoder for large pages (RFC 1951, 1952) ---
//
// Two thirds of a page are the same words again and again, and the rest are hashes, in which there is nothing to find.
// libdeflate looks for matches at each byte of a hash; this one takes the last place of seven equal bytes, or goes on, with
// longer steps the longer it finds nothing: a fourth of the time for 4 % more bytes. Of a small page the bytes count.

enum {
	LARGE = 256 << 10,     // a page of less goes to libdeflate,
	LEVEL = 5,             // by this level
	PLACES = 1 << 14,      // of the table of places
	SHORTEST = 7,          // a match in bytes; a shorter one costs more than its digits
	LONGEST = 257,         // 258 would be a case of its own
	WINDOW = 32 << 10,     // how far back a match may be
	STEPS = 4,             // after 2^STEPS bytes without a match, each step is one byte longer
	BLOCK_BYTES = 1 << 17, // of a block, which has codes of its own,
	BLOCK_MATCHES = 1 << 13,
	MARGIN = 16,  // bytes at the end in which no match begins
	END = 256,    // of a block, as a symbol
	LENGTHS = 257, // first symbol of a length of a match
	SYMBOLS = 286,
	DISTANCES = 30,
	CODE_LENGTHS = 19,
	MOST_BITS = 15, // of a code,
	MOST_BITS_OF_LENGTH = 7, // and of a code for the length of one
	MORE = 1024, // bytes of a block beside its symbols: the lengths of its codes
};

// Bytes as they are, and behind them a match.
struct piece {
	uint32_t literals;
	uint16_t length, distance; // 0: none
};

// One of the three alphabets of a block.
struct code {
	uint32_t count[SYMBOLS]; // of each symbol
	uint16_t bits[SYMBOLS];  // its code, the last bit first
	uint8_t length[SYMBOLS]; // in bits; 0: it does not occur
};

struct gzip {
	const uint8_t *in;
	size_t start; // of the block
	size_t pieces;
	uint8_t *out;
	uint64_t bits; // that are not written yet, and their number
	unsigned count;
	struct code symbols, distances, lengths;
	struct piece piece[BLOCK_MATCHES + 1];
	uint32_t place[PLACES];
};

static uint64_t read_bytes(const uint8_t *at)
{
	uint64_t bytes;
	memcpy(&bytes, at, sizeof(bytes));
	return le64toh(bytes);
}

// Up to 56 bits between two calls of write_bits().
static inline void add_bits(struct gzip *g, uint64_t bits, unsigned count)
{
	g->bits |= bits << g->count;
	g->count += count;
}

static inline void write_bits(struct gzip *g)
{
	uint64_t bytes = htole64(g->bits);
	memcpy(g->out, &bytes, sizeof(bytes));
	g->out += g->count / 8;
	g->bits >>= g->count & ~7U;
	g->count &= 7;
}

static void add_symbol(struct gzip *g, const struct code *c, unsigned symbol)
{
	add_bits(g, c->bits[symbol], c->length[symbol]);
}

// A length less 3, or a distance less 1, as a symbol and the bits behind it (RFC 1951, section 3.2.5): the highest bits of the
// value, of which kept follow the first one, make the symbol.
struct split {
	unsigned symbol, bits;
};

static struct split split_value(unsigned value, unsigned kept)
{
	if (value >> (kept + 1) == 0)
		return (struct split){value, 0};
	unsigned bits = 31 - kept - (unsigned)__builtin_clz(value);
	return (struct split){((bits + 1) << kept) + ((value >> bits) & ((1U << kept) - 1)), bits};
}

static struct split split_length(const struct piece *p)
{
	return split_value(p->length - 3U, 2);
}

static struct split split_distance(const struct piece *p)
{
	return split_value(p->distance - 1U, 1);
}

// --- codes ---

static int compare_weights(const void *a, const void *b)
{
	const uint32_t *x = a, *y = b;
	return (*x > *y) - (*x < *y);
}

enum { ORDER_SHIFT = 9 }; // bits of a symbol

// The symbols that occur, by their number: at least two, as a code with less is incomplete.
static size_t sort_symbols(const struct code *c, size_t symbols, uint32_t *order)
{
	size_t used = 0;
	for (uint32_t i = 0; i < symbols; i++)
		if (c->count[i])
			order[used++] = c->count[i] << ORDER_SHIFT | i;
	for (uint32_t i = 0; used < 2; i++)
		if (!c->count[i])
			order[used++] = 1U << ORDER_SHIFT | i;
	qsort(order, used, sizeof(*order), compare_weights);
	return used;
}

// Huffman's tree of at least two sorted symbols. depth gets that of each.
static void measure_tree(const uint32_t *order, size_t used, uint8_t *depth)
{
	uint32_t weight[2 * SYMBOLS];
	uint16_t parent[2 * SYMBOLS];
	for (size_t i = 0; i < used; i++)
		weight[i] = order[i] >> ORDER_SHIFT;
	size_t leaf = 0, inner = used, next = used;
	for (; next < 2 * used - 1; next++) {
		weight[next] = 0;
		for (int child = 0; child < 2; child++) {
			bool is_leaf = leaf < used && (inner == next || weight[leaf] <= weight[inner]);
			size_t least = is_leaf ? leaf++ : inner++;
			weight[next] += weight[least];
			parent[least] = (uint16_t)next;
		}
	}
	depth[--next] = 0;
	while (next--)
		depth[next] = (uint8_t)(depth[parent[next]] + 1);
}

// How many codes have each length: the depths, as far as they are within the limit. Each code that is cut makes room
// elsewhere: two take the place of a shorter one.
static void count_lengths(const uint8_t *depth, size_t used, unsigned limit, unsigned *count)
{
	unsigned taken = 0;
	for (size_t i = 0; i < used; i++)
		count[depth[i] < limit ? depth[i] : limit]++;
	for (unsigned bits = 1; bits <= limit; bits++)
		taken += count[bits] << (limit - bits);
	for (; taken > 1U << limit; taken--) {
		unsigned bits = limit - 1;
		while (!count[bits])
			bits--;
		count[limit]--;
		count[bits]--;
		count[bits + 1] += 2;
	}
}

static uint16_t reverse_bits(unsigned code, unsigned length)
{
	unsigned reversed = 0;
	for (unsigned i = 0; i < length; i++)
		reversed |= (code >> i & 1) << (length - 1 - i);
	return (uint16_t)reversed;
}

// The lengths and codes of the symbols, by their counts (RFC 1951, section 3.2.2). Returns how many symbols there are up to the
// last one with a code.
static size_t make_code(struct code *c, size_t symbols, unsigned limit)
{
	uint32_t order[SYMBOLS];
	uint8_t depth[2 * SYMBOLS];
	unsigned count[MOST_BITS + 1] = {0}, next[MOST_BITS + 1] = {0};
	size_t used = sort_symbols(c, symbols, order), at = 0, last = 0;
	measure_tree(order, used, depth);
	count_lengths(depth, used, limit, count);
	memset(c->length, 0, symbols);
	for (unsigned bits = limit; bits; bits--)
		for (unsigned i = 0; i < count[bits]; i++)
			c->length[order[at++] & ((1U << ORDER_SHIFT) - 1)] = (uint8_t)bits;
	for (unsigned bits = 1; bits < limit; bits++)
		next[bits + 1] = (next[bits] + count[bits]) << 1;
	for (size_t i = 0; i < symbols; i++) {
		last = c->length[i] ? i + 1 : last;
		c->bits[i] = c->length[i] ? reverse_bits(next[c->length[i]]++, c->length[i]) : 0;
	}
	return last;
}

// --- blocks ---

static void count_symbols(struct gzip *g)
{
	const uint8_t *at = g->in + g->start;
	memset(g->symbols.count, 0, sizeof(g->symbols.count));
	memset(g->distances.count, 0, sizeof(g->distances.count));
	g->symbols.count[END] = 1;
	for (size_t i = 0; i < g->pieces; i++) {
		const struct piece *p = &g->piece[i];
		for (const uint8_t *end = at + p->literals; at < end; at++)
			g->symbols.count[*at]++;
		if (!p->length)
			continue;
		g->symbols.count[LENGTHS + split_length(p).symbol]++;
		g->distances.count[split_distance(p).symbol]++;
		at += p->length;
	}
}

// Lengths of codes, of which equal ones in a row are one symbol and their number (RFC 1951, section 3.2.7).
struct runs {
	uint8_t symbol[SYMBOLS + DISTANCES], more[SYMBOLS + DISTANCES];
	size_t count;
};

enum { REPEAT = 16, ZEROS = 17, MANY_ZEROS = 18 };

static void add_run(struct runs *r, unsigned symbol, size_t more)
{
	r->symbol[r->count] = (uint8_t)symbol;
	r->more[r->count++] = (uint8_t)more;
}

static void add_equal(struct runs *r, unsigned length, size_t times)
{
	size_t cut;
	if (length) {
		add_run(r, length, 0);
		times--;
	}
	for (; times >= 3; times -= cut) {
		bool is_long = !length && times > 10;
		size_t most = length ? 6 : is_long ? 138 : 10;
		cut = times < most ? times : most;
		add_run(r, length ? REPEAT : is_long ? MANY_ZEROS : ZEROS, cut - (is_long ? 11 : 3));
	}
	while (times--)
		add_run(r, length, 0);
}

static void find_runs(const uint8_t *length, size_t count, struct runs *r)
{
	for (size_t from = 0, to; from < count; from = to) {
		for (to = from + 1; to < count && length[to] == length[from];)
			to++;
		add_equal(r, length[from], to - from);
	}
}

static void write_codes(struct gzip *g, bool is_last)
{
	static const uint8_t order[CODE_LENGTHS] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
	static const uint8_t more_bits[CODE_LENGTHS] = {[REPEAT] = 2, [ZEROS] = 3, [MANY_ZEROS] = 7};
	uint8_t length[SYMBOLS + DISTANCES];
	struct runs r = {.count = 0};
	size_t symbols = make_code(&g->symbols, SYMBOLS, MOST_BITS);
	size_t distances = make_code(&g->distances, DISTANCES, MOST_BITS), lengths = CODE_LENGTHS;
	memcpy(length, g->symbols.length, symbols);
	memcpy(length + symbols, g->distances.length, distances);
	find_runs(length, symbols + distances, &r);
	memset(g->lengths.count, 0, sizeof(g->lengths.count));
	for (size_t i = 0; i < r.count; i++)
		g->lengths.count[r.symbol[i]]++;
	make_code(&g->lengths, CODE_LENGTHS, MOST_BITS_OF_LENGTH);
	while (!g->lengths.length[order[lengths - 1]])
		lengths--;
	lengths = lengths < 4 ? 4 : lengths;
	add_bits(g, is_last | 2U << 1, 3);
	add_bits(g, symbols - 257, 5);
	add_bits(g, distances - 1, 5);
	add_bits(g, lengths - 4, 4);
	for (size_t i = 0; i < lengths; i++) {
		write_bits(g);
		add_bits(g, g->lengths.length[order[i]], 3);
	}
	for (size_t i = 0; i < r.count; i++) {
		write_bits(g);
		add_symbol(g, &g->lengths, r.symbol[i]);
		add_bits(g, r.more[i], more_bits[r.symbol[i]]);
	}
}

static void write_pieces(struct gzip *g)
{
	const uint8_t *at = g->in + g->start;
	for (size_t i = 0; i < g->pieces; i++) {
		const struct piece *p = &g->piece[i];
		uint32_t left = p->literals;
		for (write_bits(g); left >= 3; left -= 3, at += 3, write_bits(g))
			for (int k = 0; k < 3; k++)
				add_symbol(g, &g->symbols, at[k]);
		for (; left; left--)
			add_symbol(g, &g->symbols, *at++);
		if (!p->length)
			continue;
		struct split length = split_length(p), distance = split_distance(p);
		write_bits(g);
		add_symbol(g, &g->symbols, LENGTHS + length.symbol);
		add_bits(g, (p->length - 3U) & ((1U << length.bits) - 1), length.bits);
		add_symbol(g, &g->distances, distance.symbol);
		add_bits(g, (p->distance - 1U) & ((1U << distance.bits) - 1), distance.bits);
		at += p->length;
	}
	write_bits(g);
	add_symbol(g, &g->symbols, END);
	write_bits(g);
}

// Ends the block before the byte at end; bytes since anchor have no piece yet. A symbol takes at most 15 bits for a byte, and a
// match 48.
static bool end_block(struct gzip *g, size_t anchor, size_t end, bool is_last, struct buf *out)
{
	uint8_t *room = (uint8_t *)buf_reserve(out, 2 * (end - g->start) + MORE);
	if (!room)
		return false;
	if (end > anchor)
		g->piece[g->pieces++] = (struct piece){.literals = (uint32_t)(end - anchor)};
	g->out = room;
	count_symbols(g);
	write_codes(g, is_last);
	write_pieces(g);
	out->len += (size_t)(g->out - room);
	out->data[out->len] = '\0';
	g->start = end;
	g->pieces = 0;
	return true;
}

// --- matches ---

static uint32_t *last_place(struct gzip *g, uint64_t bytes)
{
	return &g->place[((bytes << (64 - 8 * SHORTEST)) * 0x9E3779B97F4A7C15U) >> 50];
}

// The match at these places, which is at least SHORTEST long, before end.
static size_t measure_match(const uint8_t *in, size_t at, size_t before, size_t end)
{
	size_t length = SHORTEST;
	for (; at + length + sizeof(uint64_t) <= end && length < LONGEST; length += sizeof(uint64_t)) {
		uint64_t differ = read_bytes(in + at + length) ^ read_bytes(in + before + length);
		if (!differ)
			continue;
		length += (size_t)__builtin_ctzll(differ) / 8;
		break;
	}
	return length < LONGEST ? length : LONGEST;
}

// Takes the match, and the equal bytes before it. Returns its end.
static size_t take_match(struct gzip *g, size_t anchor, size_t at, size_t before, size_t end)
{
	size_t length = measure_match(g->in, at, before, end), distance = at - before;
	for (; at > anchor && before && length < LONGEST && g->in[at - 1] == g->in[before - 1]; length++)
		at--, before--;
	g->piece[g->pieces++] = (struct piece){(uint32_t)(at - anchor), (uint16_t)length, (uint16_t)distance};
	size_t middle = at + 2, tail = at + length - 2;
	*last_place(g, read_bytes(g->in + middle)) = (uint32_t)middle;
	if (tail + sizeof(uint64_t) <= end)
		*last_place(g, read_bytes(g->in + tail)) = (uint32_t)tail;
	return at + length;
}

static bool write_blocks(struct gzip *g, size_t len, struct buf *out)
{
	size_t at = 0, anchor = 0;
	while (at + MARGIN < len) {
		uint64_t bytes = read_bytes(g->in + at);
		uint32_t *place = last_place(g, bytes);
		size_t before = *place;
		*place = (uint32_t)at;
		bool is_match = (read_bytes(g->in + before) ^ bytes) << (64 - 8 * SHORTEST) == 0 && at > before &&
				at - before <= WINDOW;
		at = is_match ? anchor = take_match(g, anchor, at, before, len) : at + 1 + ((at - anchor) >> STEPS);
		if (g->pieces < BLOCK_MATCHES && at - g->start < BLOCK_BYTES)
			continue;
		at = at < len ? at : len;
		if (!end_block(g, anchor, at, false, out))
			return false;
		anchor = at;
	}
	return end_block(g, anchor, len, true, out);
}

static int compress_large(struct str bytes, struct buf *out, struct err *e)
{
	static const uint8_t head[] = {0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff}; // no name, no time, no system
	CLEANUP(mem_free) struct gzip *g = xcalloc(1, sizeof(*g));
	g->in = (const uint8_t *)bytes.ptr;
	buf_add(out, head, sizeof(head));
	bool is_written = write_blocks(g, bytes.len, out);
	const uint64_t left = htole64(g->bits);
	const uint32_t tail[] = {htole32(libdeflate_crc32(0, bytes.ptr, bytes.len)), htole32((uint32_t)bytes.len)};
	buf_add(out, &left, g->count != 0); // its last bits, less than eight
	buf_add(out, tail, sizeof(tail));
	return is_written && !out->failed ? 0 : err_set(e, ERR_LIMIT, "gzip: the result is too large");
}

static void gzip_done(struct libdeflate_compressor **gzip)
{
	libdeflate_free_compressor(*gzip);
}

int compress_gzip(struct str bytes, struct buf *out, struct err *e)
{
	if (bytes.len >= LARGE)
		return compress_large(bytes, out, e);
	CLEANUP(gzip_done) struct libdeflate_compressor *gzip = libdeflate_alloc_compressor(LEVEL);
	if (!gzip)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	size_t bound = libdeflate_gzip_compress_bound(gzip, bytes.len);
	char *room = buf_reserve(out, bound);
	if (!room)
		return err_set(e, ERR_LIMIT, "gzip: the result is too large");
	out->len += libdeflate_gzip_compress(gzip, bytes.ptr, bytes.len, room, bound); // never fails with this bound
	out->data[out->len] = '\0';
	return 0;
}

// --- zstd ---

struct compress {
	ZSTD_CCtx *zstd; // NULL: out of memory
};

struct compress *compress_new(void)
{
	struct compress *p = xmalloc(sizeof(*p));
	p->zstd = ZSTD_createCCtx();
	return p;
}

void compress_free(struct compress *p)
{
	if (p)
		ZSTD_freeCCtx(p->zstd);
	free(p);
}

int compress_zstd_by(struct compress *p, struct str bytes, int level, struct buf *out, struct err *e)
{
	if (!p->zstd)
		return err_set(e, ERR_LIMIT, "zstd: out of memory");
	size_t bound = ZSTD_compressBound(bytes.len);
	char *room = buf_reserve(out, bound);
	if (!room)
		return err_set(e, ERR_LIMIT, "zstd: the result is too large");
	size_t n = ZSTD_compressCCtx(p->zstd, room, bound, bytes.ptr, bytes.len, level);
	if (ZSTD_isError(n))
		return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(n));
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

int compress_zstd(struct str bytes, int level, struct buf *out, struct err *e)
{
	struct compress *p = compress_new();
	int r = compress_zstd_by(p, bytes, level, out, e);
	compress_free(p);
	return r;
}

int decompress_zstd(struct str packed, struct buf *out, struct err *e)
{
	unsigned long long size = ZSTD_getFrameContentSize(packed.ptr, packed.len);
	if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN)
		return err_set(e, ERR_INVALID, "zstd: not a frame that states its size");
	char *room = size > out->cap ? NULL : buf_reserve(out, (size_t)size);
	if (!room)
		return err_set(e, ERR_LIMIT, "zstd: the content has %llu bytes, which is too much", size);
	size_t n = ZSTD_decompress(room, (size_t)size, packed.ptr, packed.len);
	if (ZSTD_isError(n))
		return err_set(e, ERR_INVALID, "zstd: %s", ZSTD_getErrorName(n));
	out->len += n;
	out->data[out->len] = '\0';
	return 0;
}

static void gunzip_done(struct libdeflate_decompressor **gzip)
{
	libdeflate_free_decompressor(*gzip);
}

// The length in the last four bytes of the last member: that of the whole content if there is one member.
static size_t stated_length(struct str packed)
{
	const unsigned char *end = (const unsigned char *)packed.ptr + packed.len;
	return packed.len < 4 ? 0
			      : (size_t)end[-4] | (size_t)end[-3] << 8 | (size_t)end[-2] << 16 | (size_t)end[-1] << 24;
}

// Decompresses the first member and cuts it off *packed.
static int gunzip_member(struct libdeflate_decompressor *gzip, struct str *packed, struct buf *out, struct err *e)
{
	size_t left = out->cap - out->len, guess = stated_length(*packed);
	size_t size = guess < left ? guess : left;
	for (;;) {
		size_t taken = 0, given = 0;
		char *room = buf_reserve(out, size);
		enum libdeflate_result result =
			libdeflate_gzip_decompress_ex(gzip, packed->ptr, packed->len, room, size, &taken, &given);
		if (result == LIBDEFLATE_SUCCESS) {
			out->len += given;
			out->data[out->len] = '\0';
			*packed = str_slice(*packed, taken, packed->len);
			return 0;
		}
		if (result != LIBDEFLATE_INSUFFICIENT_SPACE)
			return err_set(e, ERR_INVALID, "gzip: damaged or truncated");
		if (size == left)
			return err_set(e, ERR_LIMIT, "gzip: the content has more than %zu bytes", out->cap);
		size = left - size > size + BLOCK ? 2 * size + BLOCK : left;
	}
}

int decompress_gzip_whole(struct str packed, struct buf *out, struct err *e)
{
	CLEANUP(gunzip_done) struct libdeflate_decompressor *gzip = libdeflate_alloc_decompressor();
	if (!gzip)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	do {
		if (gunzip_member(gzip, &packed, out, e) < 0)
			return -1;
	} while (packed.len);
	return 0;
}

// Reads the next block of the file; at its end, an empty one.
static int refill_input(z_stream *z, const struct byte_source *s, uint64_t *offset, unsigned char *block, struct err *e)
{
	uint64_t left = s->size - *offset;
	size_t n = left < BLOCK ? (size_t)left : BLOCK;
	if (byte_source_read(s, *offset, block, n, e) < 0)
		return -1;
	*offset += n;
	z->next_in = block;
	z->avail_in = (unsigned)n;
	return 0;
}

// Decompresses the member at the position of z.
static int inflate_member(z_stream *z, const struct byte_source *s, uint64_t *offset, unsigned char *block,
	decompress_sink *sink, void *ctx, struct err *e)
{
	unsigned char out[BLOCK];
	for (;;) {
		if (z->avail_in == 0 && refill_input(z, s, offset, block, e) < 0)
			return -1;
		z->next_out = out;
		z->avail_out = sizeof(out);
		int code = inflate(z, Z_NO_FLUSH);
		if (code != Z_OK && code != Z_STREAM_END)
			return err_set(e, ERR_INVALID, "gzip: %s", z->msg ? z->msg : "truncated");
		size_t n = sizeof(out) - z->avail_out;
		int go = n ? sink(ctx, (struct str){(char *)out, n}, e) : 0;
		if (go)
			return go;
		if (code == Z_STREAM_END)
			return 0;
	}
}

int decompress_gzip(const struct byte_source *packed, decompress_sink *sink, void *ctx, struct err *e)
{
	CLEANUP(inflate_done) z_stream z = {0};
	unsigned char block[BLOCK];
	uint64_t offset = 0;
	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return err_set(e, ERR_LIMIT, "gzip: out of memory");
	do {
		int go = inflate_member(&z, packed, &offset, block, sink, ctx, e);
		if (go)
			return go < 0 ? -1 : 0;
		inflateReset(&z);
	} while (z.avail_in || offset < packed->size);
	return 0;
}
