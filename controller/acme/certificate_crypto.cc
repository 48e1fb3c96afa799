#include "controller/acme/certificate_crypto.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <memory>

#include <openssl/asn1.h>
#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/ocsp.h>
#include <openssl/pem.h>
#include <openssl/rand.h>
#include <openssl/rsa.h>
#include <openssl/x509v3.h>

#include "base/text/ascii.h"
#include "base/text/base64.h"

namespace edge::controller::acme {
namespace {

using compiler::CertificateKeyType;
template <typename T>
using Owned = std::unique_ptr<T, void (*)(T*)>;

constexpr std::size_t kMostChain = 16;
/// Shown to a CA within minutes.
constexpr long kChallengeSeconds = 7L * 24 * 3600;

Error fault(std::string text) {
  ERR_clear_error();
  return Error{ErrorCode::kInternal, std::move(text)};
}

Owned<EVP_PKEY> owned(EVP_PKEY* key) { return {key, EVP_PKEY_free}; }
Owned<X509> owned(X509* certificate) { return {certificate, X509_free}; }
void free_bio(BIO* bio) { BIO_free(bio); }
Owned<BIO> reading(std::string_view text) {
  return {BIO_new_mem_buf(text.data(), static_cast<int>(text.size())), free_bio};
}
std::string written_to(BIO* bio) {
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(bio, &bytes);
  return size <= 0 ? std::string() : std::string(bytes, static_cast<std::size_t>(size));
}

Owned<EVP_PKEY> read_key(std::string_view pem) {
  const auto source = reading(pem);
  auto key = owned(PEM_read_bio_PrivateKey(source.get(), nullptr, nullptr, nullptr));
  ERR_clear_error();
  return key;
}

std::string pem_of(EVP_PKEY* key) {
  const Owned<BIO> out(BIO_new(BIO_s_mem()), free_bio);
  if (PEM_write_bio_PKCS8PrivateKey(out.get(), key, nullptr, nullptr, 0, nullptr, nullptr) != 1) return {};
  return written_to(out.get());
}

Owned<EVP_PKEY> new_key(CertificateKeyType type) {
  switch (type) {
    case CertificateKeyType::kEc256:
      return owned(EVP_EC_gen("P-256"));
    case CertificateKeyType::kEc384:
      return owned(EVP_EC_gen("P-384"));
    case CertificateKeyType::kRsa2048:
      return owned(EVP_RSA_gen(2048));
    case CertificateKeyType::kRsa3072:
      return owned(EVP_RSA_gen(3072));
    case CertificateKeyType::kRsa4096:
      break;
  }
  return owned(EVP_RSA_gen(4096));
}

/// \returns false where OpenSSL does not accept it.
bool add_extension(STACK_OF(X509_EXTENSION) * list, int nid, const std::string& value) {
  X509_EXTENSION* const made = X509V3_EXT_conf_nid(nullptr, nullptr, nid, value.c_str());
  if (made == nullptr) return false;
  if (sk_X509_EXTENSION_push(list, made) > 0) return true;
  X509_EXTENSION_free(made);
  return false;
}

/// Host names come from validated patterns; anything else would be syntax of OpenSSL's configuration.
bool is_plain_host(std::string_view host) {
  if (host.starts_with("*.")) host.remove_prefix(2);
  return !host.empty() && std::ranges::all_of(host, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-' || c == '.' || c == '_';
  });
}

/// Critical, with the hash of the key authorization in an octet string (RFC 8737 §3).
bool add_validation(X509* certificate, const std::string& key_authorization) {
  std::array<unsigned char, 34> value{0x04, 0x20};
  unsigned size = 0;
  if (EVP_Digest(key_authorization.data(), key_authorization.size(), value.data() + 2, &size, EVP_sha256(), nullptr) !=
      1) {
    return false;
  }
  const Owned<ASN1_OBJECT> id(OBJ_txt2obj("1.3.6.1.5.5.7.1.31", 1), ASN1_OBJECT_free);
  const Owned<ASN1_OCTET_STRING> data(ASN1_OCTET_STRING_new(), ASN1_OCTET_STRING_free);
  if (id == nullptr || ASN1_OCTET_STRING_set(data.get(), value.data(), static_cast<int>(value.size())) != 1) {
    return false;
  }
  const Owned<X509_EXTENSION> made(X509_EXTENSION_create_by_OBJ(nullptr, id.get(), 1, data.get()), X509_EXTENSION_free);
  return made != nullptr && X509_add_ext(certificate, made.get(), -1) == 1;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? static_cast<std::int64_t>(timegm(&parts)) : 0;
}

std::string_view bytes_of(const ASN1_STRING* text) {
  return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
          static_cast<std::size_t>(ASN1_STRING_length(text))};
}

void read_names(X509* certificate, CertificateView& view) {
  void* const found = X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr);
  const Owned<GENERAL_NAMES> names(static_cast<GENERAL_NAMES*>(found), GENERAL_NAMES_free);
  if (names == nullptr) return;
  for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type == GEN_DNS) view.names.push_back(ascii_lower(bytes_of(name->d.dNSName)));
  }
}

void read_responder(X509* certificate, CertificateView& view) {
  STACK_OF(OPENSSL_STRING)* const urls = X509_get1_ocsp(certificate);
  if (urls != nullptr && sk_OPENSSL_STRING_num(urls) > 0) view.responder = sk_OPENSSL_STRING_value(urls, 0);
  X509_email_free(urls);
  void* const found = X509_get_ext_d2i(certificate, NID_tlsfeature, nullptr, nullptr);
  const Owned<TLS_FEATURE> features(static_cast<TLS_FEATURE*>(found), TLS_FEATURE_free);
  if (features == nullptr) return;
  constexpr long kStatusRequest = 5;
  for (int i = 0; i < sk_ASN1_INTEGER_num(features.get()); ++i) {
    view.asks_for_staple |= ASN1_INTEGER_get(sk_ASN1_INTEGER_value(features.get(), i)) == kStatusRequest;
  }
}

/// The two in base64url, with a dot between. The number has its sign's byte, as in DER.
std::string renewal_id(X509* certificate) {
  const ASN1_OCTET_STRING* const authority = X509_get0_authority_key_id(certificate);
  unsigned char* der = nullptr;
  const int size = i2d_ASN1_INTEGER(X509_get0_serialNumber(certificate), &der);
  std::string id;
  // The head of so short an integer has two bytes.
  if (authority != nullptr && size > 2 && size < 128) {
    id = to_base64url(bytes_of(authority)) + "." +
         to_base64url({reinterpret_cast<const char*>(der) + 2, static_cast<std::size_t>(size) - 2});
  }
  OPENSSL_free(der);
  return id;
}

void read_key_type(EVP_PKEY* key, CertificateView& view) {
  const int bits = EVP_PKEY_get_bits(key);
  const bool rsa = EVP_PKEY_get_base_id(key) == EVP_PKEY_RSA;
  const std::pair<int, CertificateKeyType> known[] = {{256, CertificateKeyType::kEc256},
                                                      {384, CertificateKeyType::kEc384},
                                                      {2048, CertificateKeyType::kRsa2048},
                                                      {3072, CertificateKeyType::kRsa3072},
                                                      {4096, CertificateKeyType::kRsa4096}};
  for (const auto& [size, type] : known) {
    if (bits != size || rsa != (size > 1024)) continue;
    view.key_type = type;
    view.has_known_key_type = true;
  }
}

}  // namespace

Result<std::string> make_key(CertificateKeyType type) {
  const auto key = new_key(type);
  std::string pem = key != nullptr ? pem_of(key.get()) : std::string();
  if (pem.empty()) return fault("no key could be made");
  return pem;
}

Result<std::string> make_request(const std::string& key, const std::string& host) {
  const auto own = read_key(key);
  const Owned<X509_REQ> request(X509_REQ_new(), X509_REQ_free);
  if (own == nullptr || request == nullptr || !is_plain_host(host)) return fault("the request could not be made");
  STACK_OF(X509_EXTENSION)* const extensions = sk_X509_EXTENSION_new_null();
  const bool made = add_extension(extensions, NID_subject_alt_name, "DNS:" + host) &&
                    X509_REQ_add_extensions(request.get(), extensions) == 1 &&
                    X509_REQ_set_pubkey(request.get(), own.get()) == 1 &&
                    X509_REQ_sign(request.get(), own.get(), EVP_sha256()) > 0;
  sk_X509_EXTENSION_pop_free(extensions, X509_EXTENSION_free);
  unsigned char* der = nullptr;
  const int size = made ? i2d_X509_REQ(request.get(), &der) : 0;
  if (size <= 0) return fault("the request could not be made");
  std::string bytes(reinterpret_cast<const char*>(der), static_cast<std::size_t>(size));
  OPENSSL_free(der);
  return bytes;
}

Result<std::string> challenge_certificate(const std::string& host, const std::string& key_authorization) {
  const auto key = new_key(CertificateKeyType::kEc256);
  const auto made = owned(X509_new());
  if (key == nullptr || made == nullptr || !is_plain_host(host)) return fault("no certificate for the challenge");
  X509_set_version(made.get(), X509_VERSION_3);
  ASN1_INTEGER_set(X509_get_serialNumber(made.get()), 1);
  X509_gmtime_adj(X509_getm_notBefore(made.get()), -3600);
  X509_gmtime_adj(X509_getm_notAfter(made.get()), kChallengeSeconds);
  X509_NAME* const subject = X509_get_subject_name(made.get());
  X509_NAME_add_entry_by_txt(subject, "CN", MBSTRING_ASC, reinterpret_cast<const unsigned char*>("ACME challenge"), -1,
                             -1, 0);
  X509_set_issuer_name(made.get(), subject);
  X509_set_pubkey(made.get(), key.get());
  const Owned<X509_EXTENSION> names(
      X509V3_EXT_conf_nid(nullptr, nullptr, NID_subject_alt_name, ("DNS:" + host).c_str()), X509_EXTENSION_free);
  const Owned<BIO> out(BIO_new(BIO_s_mem()), free_bio);
  const bool whole = names != nullptr && X509_add_ext(made.get(), names.get(), -1) == 1 &&
                     add_validation(made.get(), key_authorization) &&
                     X509_sign(made.get(), key.get(), EVP_sha256()) > 0 &&
                     PEM_write_bio_X509(out.get(), made.get()) == 1;
  if (!whole) return fault("no certificate for the challenge");
  return written_to(out.get()) + pem_of(key.get());
}

std::string dns_value(std::string_view key_authorization) {
  std::array<unsigned char, 32> hash{};
  unsigned size = 0;
  if (EVP_Digest(key_authorization.data(), key_authorization.size(), hash.data(), &size, EVP_sha256(), nullptr) != 1) {
    return {};
  }
  return to_base64url({reinterpret_cast<const char*>(hash.data()), hash.size()});
}

bool CertificateView::is_for(std::string_view host) const { return std::ranges::find(names, host) != names.end(); }

Result<CertificateView> view_certificate(std::string_view chain, std::string_view key) {
  const auto source = reading(chain);
  const auto leaf = owned(PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr));
  const auto own = read_key(key);
  if (leaf == nullptr || own == nullptr) return fault("there is no certificate, or no key");
  if (X509_check_private_key(leaf.get(), own.get()) != 1) return fault("the certificate is of another key");
  CertificateView view;
  view.from = seconds_of(X509_get0_notBefore(leaf.get()));
  view.until = seconds_of(X509_get0_notAfter(leaf.get()));
  view.renewal_id = renewal_id(leaf.get());
  read_names(leaf.get(), view);
  read_key_type(own.get(), view);
  read_responder(leaf.get(), view);
  auto last = owned(static_cast<X509*>(nullptr));
  for (std::size_t i = 1;; ++i) {
    auto next = owned(PEM_read_bio_X509(source.get(), nullptr, nullptr, nullptr));
    if (next == nullptr) break;
    if (i == kMostChain) return fault("the chain has too many certificates");
    last = std::move(next);
  }
  std::array<char, 256> name{};
  const X509_NAME* const top = X509_get_issuer_name(last != nullptr ? last.get() : leaf.get());
  if (X509_NAME_get_text_by_NID(top, NID_commonName, name.data(), static_cast<int>(name.size())) > 0) {
    view.top_issuer = name.data();
  }
  ERR_clear_error();
  return view;
}

}  // namespace edge::controller::acme
