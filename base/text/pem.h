// PEM (RFC 7468) by OpenSSL. All of it is inline, so that base itself links no OpenSSL: who includes this does.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/pem.h>

#include "base/owned.h"

namespace edge {

using BioPtr = Owned<BIO, BIO_free_all>;

/// Without a callback OpenSSL would ask the terminal for a passphrase.
inline int no_passphrase(char*, int, int, void*) { return -1; }

/// Reads from `text`, which must outlive it; of at most 2 GiB, as callers have bounded it. Null without memory.
inline BioPtr pem_reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// The first object that `kRead` finds, as `first_in_pem<PEM_read_bio_X509>(text)`: the caller's to free; null when
/// there is none. Leaves nothing in the thread's queue of errors, where who looks next would take it for an error of
/// its own.
template <auto kRead>
auto first_in_pem(std::string_view text) {
  const BioPtr bio = pem_reader(text);
  auto* const object = bio == nullptr ? nullptr : kRead(bio.get(), nullptr, no_passphrase, nullptr);
  ERR_clear_error();
  return object;
}

/// What `write(BIO*)` writes; empty when it returns something else than 1.
template <std::invocable<BIO*> Write>
std::string to_pem(Write write) {
  const BioPtr bio(BIO_new(BIO_s_mem()));
  if (bio == nullptr || write(bio.get()) != 1) return {};
  char* text = nullptr;
  const long size = BIO_get_mem_data(bio.get(), &text);
  return size > 0 ? std::string(text, static_cast<std::size_t>(size)) : std::string();
}

/// PKCS#8, without a passphrase.
inline std::string to_pem(const EVP_PKEY* key) {
  return to_pem(
      [&](BIO* out) { return PEM_write_bio_PKCS8PrivateKey(out, key, nullptr, nullptr, 0, nullptr, nullptr); });
}

}  // namespace edge
