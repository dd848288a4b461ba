// SPDX-License-Identifier: Apache-2.0
#include "lib/domain/wheel/attachment.h"

#include "lib/domain/text/filename.h"
#include "lib/domain/wheel/attestations.h"
#include "lib/domain/wheel/provenance.h"

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
