#include "tests/support/certificates.h"

#include <array>
#include <cstdlib>

#include <openssl/ocsp.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/text/pem.h"

namespace edge::test {
namespace {

// A test that cannot have its certificates has nothing to say.
void need(bool holds) {
  if (!holds) std::abort();
}

std::string pem_of(X509* certificate) {
  std::string pem = to_pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
  need(!pem.empty());
  return pem;
}

void add_extension(X509* certificate, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, certificate, nullptr, nullptr, 0);
  X509_EXTENSION* const extension = X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str());
  need(extension != nullptr);
  X509_add_ext(certificate, extension, -1);
  X509_EXTENSION_free(extension);
}

void add_common_name(X509* certificate, const std::string& name) {
  X509_NAME_add_entry_by_txt(X509_get_subject_name(certificate), "CN", MBSTRING_UTF8,
                             reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
}

X509* blank(EVP_PKEY* key, const std::string& name, std::chrono::seconds lifetime) {
  X509* const made = X509_new();
  X509_set_version(made, 2);
  std::uint32_t serial = 0;
  RAND_bytes(reinterpret_cast<unsigned char*>(&serial), sizeof(serial));
  ASN1_INTEGER_set(X509_get_serialNumber(made), static_cast<long>(serial >> 1));
  X509_gmtime_adj(X509_getm_notBefore(made), -7 * 24 * 3600);
  X509_gmtime_adj(X509_getm_notAfter(made), static_cast<long>(lifetime.count()));
  X509_set_pubkey(made, key);
  add_common_name(made, name);
  return made;
}

void number_by_time(X509* certificate, std::uint64_t milliseconds) {
  std::array<unsigned char, 16> bytes{};
  RAND_bytes(bytes.data() + 8, 8);
  for (int i = 7; i >= 0; --i, milliseconds >>= 8) bytes[static_cast<std::size_t>(i)] = milliseconds & 0xff;
  BIGNUM* const number = BN_bin2bn(bytes.data(), static_cast<int>(bytes.size()), nullptr);
  need(BN_to_ASN1_INTEGER(number, X509_get_serialNumber(certificate)) != nullptr);
  BN_free(number);
}

}  // namespace

struct TestAuthority::Impl {
  EVP_PKEY* key = nullptr;
  X509* certificate = nullptr;
};

TestAuthority::TestAuthority(const std::string& name) : impl_(std::make_unique<Impl>()) {
  impl_->key = EVP_EC_gen("P-256");
  impl_->certificate = blank(impl_->key, name, std::chrono::hours(48));
  X509* const own = impl_->certificate;
  X509_set_issuer_name(own, X509_get_subject_name(own));
  add_extension(own, own, NID_basic_constraints, "critical,CA:TRUE");
  add_extension(own, own, NID_key_usage, "critical,keyCertSign,cRLSign,digitalSignature");
  add_extension(own, own, NID_subject_key_identifier, "hash");
  need(X509_sign(own, impl_->key, EVP_sha256()) != 0);
  pem_ = pem_of(own);
}

TestAuthority::~TestAuthority() {
  X509_free(impl_->certificate);
  EVP_PKEY_free(impl_->key);
}

IssuedCertificate TestAuthority::issue(const IssueOptions& options) const {
  EVP_PKEY* const key = options.rsa ? EVP_RSA_gen(2048) : EVP_EC_gen("P-256");
  X509* const made = blank(key, options.common_name, options.lifetime);
  if (!options.second_common_name.empty()) add_common_name(made, options.second_common_name);
  if (options.issued_milliseconds != 0) number_by_time(made, options.issued_milliseconds);
  X509_set_issuer_name(made, X509_get_subject_name(impl_->certificate));
  std::string names;
  for (const std::string& name : options.names) names += (names.empty() ? "DNS:" : ",DNS:") + name;
  for (const std::string& uri : options.uris) names += (names.empty() ? "URI:" : ",URI:") + uri;
  for (const std::string& other : options.others) names += (names.empty() ? "" : ",") + other;
  if (!names.empty()) add_extension(made, impl_->certificate, NID_subject_alt_name, names);
  add_extension(made, impl_->certificate, NID_basic_constraints, "critical,CA:FALSE");
  add_extension(made, impl_->certificate, NID_authority_key_identifier, "keyid:always");
  need(X509_sign(made, impl_->key, EVP_sha256()) != 0);
  IssuedCertificate issued{pem_of(made) + pem_, to_pem(key)};
  X509_free(made);
  EVP_PKEY_free(key);
  return issued;
}

std::string TestAuthority::crl(const std::vector<IssuedCertificate>& revoked, std::chrono::seconds until) const {
  X509_CRL* const list = X509_CRL_new();
  X509_CRL_set_version(list, X509_CRL_VERSION_2);
  X509_CRL_set_issuer_name(list, X509_get_subject_name(impl_->certificate));
  ASN1_TIME* const from = X509_gmtime_adj(nullptr, -3600 * 24);
  ASN1_TIME* const to = X509_gmtime_adj(nullptr, static_cast<long>(until.count()));
  X509_CRL_set1_lastUpdate(list, from);
  X509_CRL_set1_nextUpdate(list, to);
  for (const IssuedCertificate& one : revoked) {
    X509* const leaf = first_in_pem<PEM_read_bio_X509>(one.chain);
    X509_REVOKED* const entry = X509_REVOKED_new();
    X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(leaf));
    X509_REVOKED_set_revocationDate(entry, from);
    X509_CRL_add0_revoked(list, entry);
    X509_free(leaf);
  }
  need(X509_CRL_sign(list, impl_->key, EVP_sha256()) != 0);
  std::string pem = to_pem([&](BIO* out) { return PEM_write_bio_X509_CRL(out, list); });
  need(!pem.empty());
  ASN1_TIME_free(from);
  ASN1_TIME_free(to);
  X509_CRL_free(list);
  return pem;
}

std::string TestAuthority::staple(const IssuedCertificate& certificate, std::chrono::seconds until) const {
  X509* const leaf = first_in_pem<PEM_read_bio_X509>(certificate.chain);
  need(leaf != nullptr);
  OCSP_BASICRESP* const basic = OCSP_BASICRESP_new();
  OCSP_CERTID* const id = OCSP_cert_to_id(nullptr, leaf, impl_->certificate);
  ASN1_TIME* const from = X509_gmtime_adj(nullptr, -3600 * 24);
  ASN1_TIME* const to = X509_gmtime_adj(nullptr, static_cast<long>(until.count()));
  need(OCSP_basic_add1_status(basic, id, V_OCSP_CERTSTATUS_GOOD, 0, nullptr, from, to) != nullptr);
  need(OCSP_basic_sign(basic, impl_->certificate, impl_->key, EVP_sha256(), nullptr, 0) == 1);
  OCSP_RESPONSE* const response = OCSP_response_create(OCSP_RESPONSE_STATUS_SUCCESSFUL, basic);
  unsigned char* bytes = nullptr;
  const int size = i2d_OCSP_RESPONSE(response, &bytes);
  std::string der(reinterpret_cast<const char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  OCSP_RESPONSE_free(response);
  OCSP_BASICRESP_free(basic);
  OCSP_CERTID_free(id);
  ASN1_TIME_free(from);
  ASN1_TIME_free(to);
  X509_free(leaf);
  return der;
}

}  // namespace edge::test
