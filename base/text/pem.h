// PEM (RFC 7468) by OpenSSL. Inline, so that base itself does not link OpenSSL: includers must.
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

/// Without a callback OpenSSL would prompt for a passphrase on the terminal.
inline int no_passphrase(char*, int, int, void*) { return -1; }

/// Reads from `text`, which must outlive the result; at most 2 GiB, limited by callers. Null without memory.
inline BioPtr pem_reader(std::string_view text) {
  return BioPtr(BIO_new_mem_buf(text.data(), static_cast<int>(text.size())));
}

/// Returns the first object that `kRead` finds, as `first_in_pem<PEM_read_bio_X509>(text)`, owned by the caller; null
/// when there is none. Clears the thread's error queue, so that no later code finds these errors.
template <auto kRead>
auto first_in_pem(std::string_view text) {
  const BioPtr bio = pem_reader(text);
  auto* const object = bio == nullptr ? nullptr : kRead(bio.get(), nullptr, no_passphrase, nullptr);
  ERR_clear_error();
  return object;
}

/// Returns the output of `write(BIO*)`; empty unless it returns 1.
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
