#include "controller/acme/test_issuer.h"

#include <memory>

#include <openssl/bio.h>
#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509v3.h>

#include "controller/acme/certificate_crypto.h"

namespace edge::controller::acme {

std::string issue(const std::string& request, const std::string& host) {
  const auto* position = reinterpret_cast<const unsigned char*>(request.data());
  const std::unique_ptr<X509_REQ, decltype(&X509_REQ_free)> asked(
      d2i_X509_REQ(nullptr, &position, static_cast<long>(request.size())), X509_REQ_free);
  if (asked == nullptr) return {};
  const std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)> key(X509_REQ_get_pubkey(asked.get()), EVP_PKEY_free);
  if (X509_REQ_verify(asked.get(), key.get()) != 1) return {};
  static EVP_PKEY* const issuer = EVP_EC_gen("P-256");
  const std::unique_ptr<X509, decltype(&X509_free)> made(X509_new(), X509_free);
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 4711);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), 0);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), 90L * 24 * 3600);
  X509_NAME_add_entry_by_txt(X509_get_issuer_name(made.get()), "CN", MBSTRING_ASC,
                             reinterpret_cast<const unsigned char*>("Test CA"), -1, -1, 0);
  X509_set_pubkey(made.get(), key.get());
  X509_EXTENSION* const names = X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + host).c_str());
  X509_add_ext(made.get(), names, -1);
  X509_EXTENSION_free(names);
  X509_sign(made.get(), issuer, EVP_sha256());
  const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
  PEM_write_bio_X509(out.get(), made.get());
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(out.get(), &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

std::string issue_for_other_key(const std::string& host) {
  const auto key = make_key(compiler::CertificateKeyType::kEc256);
  const auto request = key ? make_request(*key, host) : Result<std::string>(Error{ErrorCode::kInternal, {}});
  return request ? issue(*request, host) : std::string();
}

}  // namespace edge::controller::acme
