#include "controller/authority/certificates.h"

#include <algorithm>
#include <array>
#include <ctime>
#include <optional>

#include <openssl/ec.h>
#include <openssl/evp.h>
#include <openssl/obj_mac.h>
#include <openssl/rand.h>
#include <openssl/x509v3.h>

#include "base/owned.h"
#include "base/resource_id.h"
#include "base/text/pem.h"

namespace edge::controller {
namespace {

using KeyPtr = Owned<EVP_PKEY, EVP_PKEY_free>;
using CertificatePtr = Owned<X509, X509_free>;
using RequestPtr = Owned<X509_REQ, X509_REQ_free>;
using ExtensionPtr = Owned<X509_EXTENSION, X509_EXTENSION_free>;
using NamesPtr = Owned<GENERAL_NAMES, GENERAL_NAMES_free>;

constexpr std::size_t kMaxPemBytes = 16 << 10;
constexpr std::string_view kScheme = "edge://";
constexpr const char* kAuthorityName = "edge-proxy authority";
/// What agents expect of whoever says that it is a controller, by whatever address they reach it.
constexpr std::string_view kControllerHost = "DNS:edge-controller";

std::string_view role_text(Role role) {
  if (role == Role::kAgent) return "agent";
  if (role == Role::kRemote) return "remote";
  if (role == Role::kCluster) return "cluster";
  return role == Role::kAdministrator ? "administrator" : "controller";
}

template <auto kRead>
auto first_of(std::string_view pem) {
  return pem.size() > kMaxPemBytes ? nullptr : first_in_pem<kRead>(pem);
}
CertificatePtr certificate_of(std::string_view pem) { return CertificatePtr(first_of<PEM_read_bio_X509>(pem)); }

std::string pem_of(X509* certificate) {
  return to_pem([&](BIO* out) { return PEM_write_bio_X509(out, certificate); });
}

WallTime wall_time(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&utc));
}

bool add_extension(X509* made, X509* issuer, int kind, const std::string& value) {
  X509V3_CTX context;
  X509V3_set_ctx(&context, issuer, made, nullptr, nullptr, 0);
  const ExtensionPtr extension(X509V3_EXT_conf_nid(nullptr, &context, kind, value.c_str()));
  return extension != nullptr && X509_add_ext(made, extension.get(), -1) == 1;
}

/// The time in milliseconds, then 64 random bits: unique, and tells certificates from before a revocation.
bool set_serial(X509* made, WallTime now) {
  std::array<unsigned char, 16> bytes{};
  const auto milliseconds =
      std::chrono::duration_cast<std::chrono::milliseconds>(now.time_since_epoch()).count() & INT64_MAX;
  for (std::size_t i = 0; i < 8; ++i) bytes[i] = static_cast<unsigned char>(milliseconds >> (56 - 8 * i));
  if (RAND_bytes(bytes.data() + 8, 8) != 1) return false;
  BIGNUM* const number = BN_bin2bn(bytes.data(), bytes.size(), nullptr);
  const bool set = number != nullptr && BN_to_ASN1_INTEGER(number, X509_get_serialNumber(made)) != nullptr;
  BN_free(number);
  return set;
}

WallTime issued_at(const X509* certificate) {
  BIGNUM* const number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  std::array<unsigned char, 16> bytes{};
  const bool fits = number != nullptr && BN_bn2binpad(number, bytes.data(), bytes.size()) == bytes.size();
  BN_free(number);
  if (!fits) return {};
  std::int64_t milliseconds = 0;
  for (std::size_t i = 0; i < 8; ++i) milliseconds = milliseconds << 8 | bytes[i];
  return WallTime(std::chrono::milliseconds(milliseconds));
}

/// All but what tells an authority from who it vouches for.
CertificatePtr blank(EVP_PKEY* key, const char* name, Validity validity, WallTime now) {
  CertificatePtr made(X509_new());
  if (made == nullptr || X509_set_version(made.get(), 2) != 1 || !set_serial(made.get(), now)) return nullptr;
  ASN1_TIME_set(X509_getm_notBefore(made.get()), std::chrono::system_clock::to_time_t(validity.from));
  ASN1_TIME_set(X509_getm_notAfter(made.get()), std::chrono::system_clock::to_time_t(validity.until));
  X509_set_pubkey(made.get(), key);
  const auto* text = reinterpret_cast<const unsigned char*>(name);
  if (X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "CN", MBSTRING_UTF8, text, -1, -1, 0) != 1) {
    return nullptr;
  }
  return made;
}

bool is_p256(EVP_PKEY* key) {
  std::array<char, 32> curve{};
  std::size_t size = 0;
  return key != nullptr && EVP_PKEY_get_base_id(key) == EVP_PKEY_EC &&
         EVP_PKEY_get_group_name(key, curve.data(), curve.size(), &size) == 1 &&
         std::string_view(curve.data(), size) == SN_X9_62_prime256v1;
}

std::optional<Subject> parse_subject(std::string_view uri) {
  for (const Role role : {Role::kAgent, Role::kAdministrator, Role::kController, Role::kRemote, Role::kCluster}) {
    const std::string prefix = std::string(kScheme) + std::string(role_text(role)) + "/";
    if (!uri.starts_with(prefix)) continue;
    const std::string_view name = uri.substr(prefix.size());
    const bool good = role == Role::kRemote || role == Role::kCluster ? is_cluster_name(name) : is_subject_name(name);
    if (good) return Subject{role, std::string(name)};
  }
  return std::nullopt;
}

/// Exactly one URI, and that one ours.
std::optional<Subject> subject_of(X509* certificate) {
  const NamesPtr names(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  std::optional<Subject> found;
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names.get()); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names.get(), i);
    if (name->type != GEN_URI) continue;
    if (found) return std::nullopt;
    const ASN1_IA5STRING* const uri = name->d.uniformResourceIdentifier;
    found = parse_subject(
        {reinterpret_cast<const char*>(ASN1_STRING_get0_data(uri)), static_cast<std::size_t>(ASN1_STRING_length(uri))});
    if (!found) return std::nullopt;
  }
  return found;
}

/// Of the key's SubjectPublicKeyInfo.
std::string digest_of(EVP_PKEY* key) {
  unsigned char* der = nullptr;
  const int size = ::i2d_PUBKEY(key, &der);
  if (size <= 0) return {};
  std::array<unsigned char, SHA256_DIGEST_LENGTH> digest{};
  ::SHA256(der, static_cast<std::size_t>(size), digest.data());
  ::OPENSSL_free(der);
  constexpr std::string_view kDigits = "0123456789abcdef";
  std::string text;
  for (const unsigned char byte : digest) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

Error internal() { return {ErrorCode::kInternal, "a certificate cannot be made"}; }

}  // namespace

struct Issuer::Impl {
  KeyPtr key;
  CertificatePtr certificate;
  std::string pem;
  Validity validity;

  Result<std::string> issue(EVP_PKEY* subject_key, const Subject& subject, Validity valid, WallTime now) const;
  /// Extensions and signature. `names`: as OpenSSL writes alternative names; empty: none.
  Result<std::string> finish(X509* made, const std::string& names, const std::string& usage) const;
};

bool is_subject_name(std::string_view text) {
  const auto [cluster, name] = split_cluster(text);
  if (text.find(':') != std::string_view::npos && !is_cluster_name(cluster)) return false;
  const auto alphanumeric = [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); };
  return !name.empty() && name.size() <= 253 && alphanumeric(name.front()) && alphanumeric(name.back()) &&
         std::ranges::all_of(name, [&](char c) { return alphanumeric(c) || c == '-' || c == '.'; });
}

Result<CertificateFacts> read_certificate(std::string_view pem) {
  const CertificatePtr read = certificate_of(pem);
  auto subject = read == nullptr ? std::nullopt : subject_of(read.get());
  if (!subject) return Error{ErrorCode::kUnauthenticated, "the certificate is none of this controller's"};
  return CertificateFacts{std::move(*subject),
                          {wall_time(X509_get0_notBefore(read.get())), wall_time(X509_get0_notAfter(read.get()))},
                          issued_at(read.get()),
                          digest_of(X509_get0_pubkey(read.get()))};
}

Result<std::string> key_of_request(std::string_view request) {
  const RequestPtr read(first_of<PEM_read_bio_X509_REQ>(request));
  EVP_PKEY* const key = read == nullptr ? nullptr : X509_REQ_get0_pubkey(read.get());
  std::string digest = key == nullptr ? std::string() : digest_of(key);
  if (digest.empty()) return Error{ErrorCode::kInvalidArgument, "the request is none"};
  return digest;
}

WallTime issued_by(std::string_view serial) {
  constexpr std::size_t kSize = 16;
  if (serial.size() > kSize || serial.size() + 8 <= kSize) return {};
  std::int64_t milliseconds = 0;
  for (std::size_t i = 0; i + 8 < serial.size(); ++i)
    milliseconds = milliseconds << 8 | static_cast<unsigned char>(serial[i]);
  return WallTime(std::chrono::milliseconds(milliseconds));
}

WallTime issue_of(std::string_view pem) {
  const CertificatePtr read = certificate_of(pem);
  return read == nullptr ? WallTime() : issued_at(read.get());
}

Result<Validity> validity_of(std::string_view pem) {
  const CertificatePtr read = certificate_of(pem);
  if (read == nullptr) return Error{ErrorCode::kInvalidArgument, "not a certificate"};
  return Validity{wall_time(X509_get0_notBefore(read.get())), wall_time(X509_get0_notAfter(read.get()))};
}

bool is_signed_by(std::string_view pem, std::string_view authority) {
  const CertificatePtr read = certificate_of(pem);
  const CertificatePtr above = certificate_of(authority);
  return read != nullptr && above != nullptr && X509_verify(read.get(), X509_get0_pubkey(above.get())) == 1;
}

Result<Issuer> Issuer::create(Validity validity) {
  KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return internal();
  CertificatePtr made = blank(key.get(), kAuthorityName, validity, validity.from);
  if (made == nullptr) return internal();
  X509_set_issuer_name(made.get(), X509_get_subject_name(made.get()));
  if (!add_extension(made.get(), made.get(), NID_basic_constraints, "critical,CA:TRUE,pathlen:0") ||
      !add_extension(made.get(), made.get(), NID_key_usage, "critical,keyCertSign,cRLSign") ||
      !add_extension(made.get(), made.get(), NID_subject_key_identifier, "hash") ||
      X509_sign(made.get(), key.get(), EVP_sha256()) == 0) {
    return internal();
  }
  std::string pem = pem_of(made.get());
  return Issuer(std::make_shared<const Impl>(Impl{std::move(key), std::move(made), std::move(pem), validity}));
}

Result<Issuer> Issuer::from_pem(std::string_view key_and_certificate) {
  KeyPtr key(first_of<PEM_read_bio_PrivateKey>(key_and_certificate));
  CertificatePtr read = certificate_of(key_and_certificate);
  if (!is_p256(key.get()) || read == nullptr || X509_check_private_key(read.get(), key.get()) != 1) {
    return Error{ErrorCode::kFailedPrecondition, "not an authority's key and certificate"};
  }
  const Validity validity{wall_time(X509_get0_notBefore(read.get())), wall_time(X509_get0_notAfter(read.get()))};
  std::string pem = pem_of(read.get());
  return Issuer(std::make_shared<const Impl>(Impl{std::move(key), std::move(read), std::move(pem), validity}));
}

std::string Issuer::pem() const { return to_pem(impl_->key.get()) + impl_->pem; }
const std::string& Issuer::certificate() const { return impl_->pem; }
const Validity& Issuer::validity() const { return impl_->validity; }

bool Issuer::has_issued(std::string_view pem) const {
  const CertificatePtr read = certificate_of(pem);
  return read != nullptr && X509_verify(read.get(), impl_->key.get()) == 1;
}

Result<std::string> Issuer::Impl::issue(EVP_PKEY* subject_key, const Subject& subject, Validity valid,
                                        WallTime now) const {
  // CN has room for 64 characters (RFC 5280, ub-common-name); what counts is the URI.
  const std::string name = subject.name.substr(0, 64);
  const CertificatePtr made = blank(subject_key, name.c_str(), valid, now);
  if (made == nullptr) return internal();
  std::string names = "URI:" + std::string(kScheme) + std::string(role_text(subject.role)) + "/" + subject.name;
  const bool serves = subject.role == Role::kController;
  if (serves) names += "," + std::string(kControllerHost);
  const bool both = subject.role == Role::kCluster;
  return finish(made.get(), names, both ? "serverAuth,clientAuth" : serves ? "serverAuth" : "clientAuth");
}

Result<std::string> Issuer::Impl::finish(X509* made, const std::string& names, const std::string& usage) const {
  X509_set_issuer_name(made, X509_get_subject_name(certificate.get()));
  if (!add_extension(made, certificate.get(), NID_basic_constraints, "critical,CA:FALSE") ||
      !add_extension(made, certificate.get(), NID_key_usage, "critical,digitalSignature") ||
      !add_extension(made, certificate.get(), NID_ext_key_usage, usage) ||
      (!names.empty() && !add_extension(made, certificate.get(), NID_subject_alt_name, names)) ||
      !add_extension(made, certificate.get(), NID_authority_key_identifier, "keyid:always") ||
      X509_sign(made, key.get(), EVP_sha256()) == 0) {
    return internal();
  }
  return pem_of(made);
}

Result<std::string> Issuer::issue(const Subject& subject, Validity validity, WallTime now,
                                  std::string_view request) const {
  const RequestPtr read(first_of<PEM_read_bio_X509_REQ>(request));
  EVP_PKEY* const key = read == nullptr ? nullptr : X509_REQ_get0_pubkey(read.get());
  if (!is_p256(key) || X509_REQ_verify(read.get(), key) != 1) {
    return Error{ErrorCode::kInvalidArgument, "the request is not one for a key on P-256, signed with it"};
  }
  return impl_->issue(key, subject, validity, now);
}

Result<KeyPair> Issuer::issue(const Subject& subject, Validity validity, WallTime now) const {
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return internal();
  auto certificate = impl_->issue(key.get(), subject, validity, now);
  if (!certificate) return certificate.error();
  return KeyPair{to_pem(key.get()), std::move(*certificate)};
}

Result<KeyPair> Issuer::issue(const PlainSubject& subject, Validity validity, WallTime now) const {
  std::string names;
  const auto add = [&names](const char* kind, const std::vector<std::string>& values) {
    for (const std::string& value : values) {
      // OpenSSL reads a list here, and a comma would begin another name.
      if (value.empty() || value.find_first_of(", ;\n") != std::string::npos) return false;
      names += (names.empty() ? "" : ",") + std::string(kind) + value;
    }
    return true;
  };
  if (!add("DNS:", subject.hosts) || !add("IP:", subject.addresses)) {
    return Error{ErrorCode::kInvalidArgument, "not the name of a host"};
  }
  const KeyPtr key(EVP_EC_gen("P-256"));
  if (key == nullptr) return internal();
  const CertificatePtr made = blank(key.get(), subject.common_name.c_str(), validity, now);
  if (made == nullptr) return Error{ErrorCode::kInvalidArgument, "a subject that no certificate can hold"};
  for (const std::string& organization : subject.organizations) {
    const auto* text = reinterpret_cast<const unsigned char*>(organization.c_str());
    if (X509_NAME_add_entry_by_txt(X509_get_subject_name(made.get()), "O", MBSTRING_UTF8, text, -1, -1, 0) != 1) {
      return Error{ErrorCode::kInvalidArgument, "a subject that no certificate can hold"};
    }
  }
  auto certificate =
      impl_->finish(made.get(), names, subject.use == PlainSubject::Use::kServer ? "serverAuth" : "clientAuth");
  if (!certificate) return certificate.error();
  return KeyPair{to_pem(key.get()), std::move(*certificate)};
}

}  // namespace edge::controller
