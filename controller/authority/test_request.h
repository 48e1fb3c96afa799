// Requests for certificates (PKCS #10) of new keys, for tests.
#pragma once

#include <string>

#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/text/pem.h"

namespace edge::controller {

inline std::string request_on(const char* curve) {
  EVP_PKEY* const key = EVP_EC_gen(curve);
  X509_REQ* const request = X509_REQ_new();
  X509_REQ_set_pubkey(request, key);
  X509_REQ_sign(request, key, EVP_sha256());
  std::string pem = to_pem([&](BIO* out) { return PEM_write_bio_X509_REQ(out, request); });
  X509_REQ_free(request);
  EVP_PKEY_free(key);
  return pem;
}

}  // namespace edge::controller
