// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/attachment.h"

#include <string.h>

#include "lib/base/limits.h"
#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/provenance.h"
#include "lib/format/base64.h"
#include "lib/format/jsondoc.h"

const char *const attachment_ending[ATTACHMENT_COUNT] = {
	[ATTACHMENT_STATEMENT] = ".intoto.json",
	[ATTACHMENT_PROVENANCE] = ".provenance",
};

bool attachment_is(struct str name, struct str *filename, enum attachment *kind)
{
	for (int i = 0; i < ATTACHMENT_COUNT; i++) {
		struct str ending = str_from(attachment_ending[i]);
		if (!str_ends(name, ending))
			continue;
		*filename = str_slice(name, 0, name.len - ending.len);
		*kind = (enum attachment)i;
		return filename_kind(*filename) != FILENAME_OTHER;
	}
	return false;
}

int attachment_subject(enum attachment kind, struct str text, const char *filename, uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	CLEANUP(provenance_release) struct provenance p = {0};
	if (kind == ATTACHMENT_PROVENANCE)
		return attestations_read_object(text, filename, sha256, e);
	return provenance_read(text, &p, e) < 0 ? -1 : provenance_digest(&p, filename, sha256, e);
}

int attachment_check_subject(enum attachment kind, const char *filename, const uint8_t subject[SHA256_SIZE],
	const uint8_t sha256[SHA256_SIZE], struct err *e)
{
	char said[SHA256_HEX + 1] = "", real[SHA256_HEX + 1] = "";
	if (memcmp(subject, sha256, SHA256_SIZE) == 0)
		return 0;
	hex_encode(subject, SHA256_SIZE, said);
	hex_encode(sha256, SHA256_SIZE, real);
	return err_set(e, ERR_INVALID, "%s is about other bytes: sha256 %s, but %s has %s",
		kind == ATTACHMENT_STATEMENT ? "the statement of provenance" : "an attestation", said, filename, real);
}

int attachment_check(enum attachment kind, struct str text, const char *filename, const uint8_t sha256[SHA256_SIZE],
	struct err *e)
{
	uint8_t subject[SHA256_SIZE];
	return attachment_subject(kind, text, filename, subject, e) < 0
		       ? -1
		       : attachment_check_subject(kind, filename, subject, sha256, e);
}

// --- attestations ---

static const char *const predicates[] = {PROVENANCE_SLSA, "https://docs.pypi.org/attestations/publish/v1"};

// The attestations of one file.
struct attested {
	const char *filename;
	bool has_sha256;
	uint8_t *sha256;
	size_t count;
};

static int bad_attestation(const char *what, struct err *e)
{
	return err_set(e, ERR_INVALID, "attestations: %s", what);
}

static int check_predicate(const struct provenance *p, struct err *e)
{
	for (size_t i = 0; i < ARRAY_SIZE(predicates); i++)
		if (strcmp(p->predicate_type, predicates[i]) == 0)
			return 0;
	return bad_attestation("a statement has a predicateType that PEP 740 does not know", e);
}

// The bytes of a Base64 string that is not empty.
static int decode_member(const struct jsondoc *object, const char *key, struct buf *out, struct err *e)
{
	const char *text = object ? jsondoc_get_str(object, key) : NULL;
	struct str plain = str_from(text ? text : "");
	buf_init(out, LIMIT_STATEMENT);
	char *room = plain.len ? buf_reserve(out, base64_size(plain)) : NULL;
	if (!room || !base64_decode(plain, BASE64_PLAIN, (uint8_t *)room))
		return err_set(e, ERR_INVALID, "attestations: %s is no Base64 text", key);
	out->len += base64_size(plain);
	return 0;
}

static int check_material(const struct jsondoc *attestation, struct err *e)
{
	const struct jsondoc *material = jsondoc_get(attestation, "verification_material");
	const struct jsondoc *entries = material ? jsondoc_get(material, "transparency_entries") : NULL;
	CLEANUP(buf_release) struct buf certificate = {0};
	if (!entries || !jsondoc_count(entries))
		return bad_attestation("verification_material has no transparency_entries", e);
	return decode_member(material, "certificate", &certificate, e);
}

static int take_attestation(struct attested *all, const struct jsondoc *attestation, struct err *e)
{
	int64_t version = 0;
	if (!jsondoc_get_int(attestation, "version", &version) || version != 1)
		return bad_attestation("the version of one is not 1", e);
	const struct jsondoc *envelope = jsondoc_get(attestation, "envelope");
	CLEANUP(buf_release) struct buf statement = {0}, signature = {0};
	if (check_material(attestation, e) < 0 || decode_member(envelope, "signature", &signature, e) < 0 ||
		decode_member(envelope, "statement", &statement, e) < 0)
		return -1;
	// Each one has a single subject with a name, and all are about the same bytes.
	struct str text = buf_view(&statement);
	uint8_t sha256[SHA256_SIZE];
	CLEANUP(provenance_release) struct provenance p = {0};
	if (provenance_read(text, &p, e) < 0)
		return err_prefix(e, "attestations: ");
	if (p.subjects != 1 || !p.subject[0].name)
		return bad_attestation("a statement does not have one subject with a name", e);
	if (check_predicate(&p, e) < 0)
		return -1;
	if (provenance_digest(&p, all->filename, sha256, e) < 0)
		return err_prefix(e, "attestations: ");
	if (all->has_sha256 && memcmp(all->sha256, sha256, SHA256_SIZE) != 0)
		return bad_attestation("they are about different bytes", e);
	all->has_sha256 = true;
	memcpy(all->sha256, sha256, SHA256_SIZE);
	return 0;
}

static int take_list(struct attested *all, const struct jsondoc *array, struct err *e)
{
	size_t count = array ? jsondoc_count(array) : 0;
	if (!count)
		return bad_attestation("there is no list of them, or it is empty", e);
	all->count += count;
	if (all->count > LIMIT_ATTESTATIONS)
		return err_set(e, ERR_LIMIT, "attestations: there are more than %d", LIMIT_ATTESTATIONS);
	for (size_t i = 0; i < count; i++)
		if (take_attestation(all, jsondoc_at(array, i), e) < 0)
			return -1;
	return 0;
}

// At least as many as there are values, before a tree is made of them.
static size_t count_marks(struct str text)
{
	size_t count = 0;
	for (size_t i = 0; i < text.len; i++)
		count += text.ptr[i] == ',' || text.ptr[i] == '[' || text.ptr[i] == '{';
	return count;
}

static struct jsondoc *read_tree(struct str text, struct err *e)
{
	if (text.len > LIMIT_STATEMENT)
		err_set(e, ERR_LIMIT, "attestations: they have more than %d bytes", LIMIT_STATEMENT);
	else if (count_marks(text) > LIMIT_ATTESTATION_VALUES)
		err_set(e, ERR_LIMIT, "attestations: they have more than %d values", LIMIT_ATTESTATION_VALUES);
	else {
		struct jsondoc *doc = jsondoc_read(text, e);
		if (!doc)
			err_prefix(e, "attestations: ");
		return doc;
	}
	return NULL;
}

int attestations_read(struct str array, const char *filename, uint8_t sha256[SHA256_SIZE], size_t *count, struct err *e)
{
	struct attested all = {.filename = filename, .sha256 = sha256};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = read_tree(array, e);
	bool is_empty = doc && !jsondoc_count(doc) && *str_trim(array).ptr == '[';
	if (!doc || (!is_empty && take_list(&all, doc, e) < 0))
		return -1;
	*count = all.count;
	return 0;
}

void attestations_put_object(struct str array, struct buf *out)
{
	buf_puts(out, "{\"version\":1,\"attestation_bundles\":[{\"publisher\":{\"kind\":\"wheelcache-token\","
		      "\"claims\":{}},\"attestations\":");
	buf_str(out, str_trim(array));
	buf_puts(out, "}]}\n");
}

static int take_bundle(struct attested *all, const struct jsondoc *bundle, struct err *e)
{
	const struct jsondoc *publisher = jsondoc_get(bundle, "publisher");
	if (!publisher || !jsondoc_get_str(publisher, "kind"))
		return bad_attestation("a bundle has no publisher", e);
	return take_list(all, jsondoc_get(bundle, "attestations"), e);
}

int attestations_read_object(struct str object, const char *filename, uint8_t sha256[SHA256_SIZE], struct err *e)
{
	int64_t version = 0;
	struct attested all = {.filename = filename, .sha256 = sha256};
	CLEANUP(jsondoc_cleanup) struct jsondoc *doc = read_tree(object, e);
	if (!doc)
		return -1;
	const struct jsondoc *bundles = jsondoc_get(doc, "attestation_bundles");
	if (!jsondoc_get_int(doc, "version", &version) || version != 1 || !bundles || !jsondoc_count(bundles))
		return bad_attestation("it is no provenance object of version 1", e);
	for (size_t i = 0; i < jsondoc_count(bundles); i++)
		if (take_bundle(&all, jsondoc_at(bundles, i), e) < 0)
			return -1;
	return 0;
}
