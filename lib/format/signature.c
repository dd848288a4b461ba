// SPDX-License-Identifier: Apache-2.0
#include "lib/format/signature.h"

#include <limits.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>

static void key_done(EVP_PKEY **key)
{
	EVP_PKEY_free(*key);
}

static void context_done(EVP_MD_CTX **context)
{
	EVP_MD_CTX_free(*context);
}

// Nobody is asked for a password.
static int no_password(char *out UNUSED, int size UNUSED, int writes UNUSED, void *ctx UNUSED)
{
	return -1;
}

static EVP_PKEY *read_ed25519(struct str pem, bool is_private, struct err *e)
{
	BIO *bio = BIO_new_mem_buf(pem.ptr, pem.len < INT_MAX ? (int)pem.len : INT_MAX);
	EVP_PKEY *key = !bio         ? NULL
			: is_private ? PEM_read_bio_PrivateKey(bio, NULL, no_password, NULL)
				     : PEM_read_bio_PUBKEY(bio, NULL, no_password, NULL);
	BIO_free(bio);
	ERR_clear_error();
	if (key && EVP_PKEY_id(key) == EVP_PKEY_ED25519)
		return key;
	EVP_PKEY_free(key);
	if (is_private)
		err_set(e, ERR_USAGE,
			"no private key of Ed25519 without a password; openssl genpkey -algorithm ed25519 makes one");
	else
		err_set(e, ERR_USAGE,
			"no public key of Ed25519; openssl pkey -in KEY -pubout writes that of a private key");
	return NULL;
}

int signature_make(struct str pem, const uint8_t sha256[SHA256_SIZE], uint8_t out[SIGNATURE_SIZE], struct err *e)
{
	size_t size = SIGNATURE_SIZE;
	CLEANUP(key_done) EVP_PKEY *key = read_ed25519(pem, true, e);
	CLEANUP(context_done) EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (!key)
		return -1;
	bool is_made = context && EVP_DigestSignInit(context, NULL, NULL, NULL, key) == 1 &&
		       EVP_DigestSign(context, out, &size, sha256, SHA256_SIZE) == 1 && size == SIGNATURE_SIZE;
	ERR_clear_error();
	return is_made ? 0 : err_set(e, ERR_IO, "libcrypto cannot sign with Ed25519 here");
}

int signature_check(struct str pem, const uint8_t sha256[SHA256_SIZE], const uint8_t signature[SIGNATURE_SIZE],
	struct err *e)
{
	CLEANUP(key_done) EVP_PKEY *key = read_ed25519(pem, false, e);
	CLEANUP(context_done) EVP_MD_CTX *context = EVP_MD_CTX_new();
	if (!key)
		return -1;
	if (!context || EVP_DigestVerifyInit(context, NULL, NULL, NULL, key) != 1)
		return err_set(e, ERR_IO, "libcrypto cannot check Ed25519 here");
	bool is_good = EVP_DigestVerify(context, signature, SIGNATURE_SIZE, sha256, SHA256_SIZE) == 1;
	ERR_clear_error();
	return is_good;
}
