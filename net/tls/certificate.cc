#include "net/tls/certificate.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <ctime>
#include <utility>

#include <openssl/err.h>
#include <openssl/ocsp.h>
#include <openssl/x509v3.h>

#include "base/owned.h"
#include "base/text/ascii.h"
#include "base/text/pem.h"
#include "net/tls/certificate_facts.h"
#include "net/tls/openssl.h"

namespace edge::net::tls {
namespace {

constexpr std::size_t kMaxChain = 16;
constexpr std::size_t kMaxAuthorities = 4096;
/// Below it nobody's client would finish a handshake: RSA of 2048 bits, curves of 224.
constexpr int kLeastSecurityBits = 112;
/// Of a staple that tells no end; and how far clocks may differ.
constexpr std::int64_t kDay = 24 * 60 * 60;
constexpr long kSkew = 300;

Error invalid(std::string text) { return {ErrorCode::kInvalidArgument, std::move(text)}; }

/// Whether the last failed read only met the end of the text.
bool at_end() {
  const unsigned long error = ERR_peek_last_error();
  const bool end = ERR_GET_LIB(error) == ERR_LIB_PEM && ERR_GET_REASON(error) == PEM_R_NO_START_LINE;
  if (end) ERR_clear_error();
  return end;
}

int pass_over(X509_STORE_CTX* context) {
  X509_STORE_CTX_set_error(context, X509_V_OK);
  return 1;
}

/// The chain ends at this one, and did not begin with it: it is believed because it was configured.
bool is_authority(X509_STORE_CTX* context) {
  const int depth = X509_STORE_CTX_get_error_depth(context);
  return depth > 0 && depth == sk_X509_num(X509_STORE_CTX_get0_chain(context)) - 1;
}

int with_needed_lists(int good, X509_STORE_CTX* context) {
  const bool no_list = good == 0 && X509_STORE_CTX_get_error(context) == X509_V_ERR_UNABLE_TO_GET_CRL;
  return no_list && is_authority(context) ? pass_over(context) : good;
}

int with_lists_that_are_there(int good, X509_STORE_CTX* context) {
  if (good != 0) return good;
  switch (X509_STORE_CTX_get_error(context)) {
    case X509_V_ERR_UNABLE_TO_GET_CRL:
    case X509_V_ERR_CRL_HAS_EXPIRED:
    case X509_V_ERR_CRL_NOT_YET_VALID:
      return pass_over(context);
    default:
      return 0;
  }
}

Result<std::vector<Handle<x509_st>>> read_certificates(std::string_view pem, std::size_t most) {
  if (pem.size() > kMaxPemBytes) return invalid("larger than 1 MiB");
  const BioPtr reader = pem_reader(pem);
  std::vector<Handle<x509_st>> all;
  ERR_clear_error();
  while (X509* one = PEM_read_bio_X509_AUX(reader.get(), nullptr, no_passphrase, nullptr)) {
    all.emplace_back(one);
    if (all.size() > most) return invalid("more than " + std::to_string(most) + " certificates");
  }
  if (!at_end()) return invalid("not a certificate in PEM: " + take_error());
  if (all.empty()) return invalid("no certificate in it");
  return all;
}

std::int64_t seconds_of(const ASN1_TIME* time) {
  std::tm parts{};
  return ASN1_TIME_to_tm(time, &parts) == 1 ? static_cast<std::int64_t>(::timegm(&parts)) : 0;
}

void add_name(std::string_view name, std::vector<std::string>& names) {
  std::string lower = ascii_lower(name);
  if (!lower.empty() && std::find(names.begin(), names.end(), lower) == names.end()) names.push_back(std::move(lower));
}

/// The alternative names; the subject's common name only where there are none (RFC 6125 §6.4.4).
std::vector<std::string> names_of(X509* certificate) {
  std::vector<std::string> names;
  const Owned<GENERAL_NAMES, GENERAL_NAMES_free> alternatives(
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr)));
  for (int i = 0; alternatives != nullptr && i < sk_GENERAL_NAME_num(alternatives.get()); ++i) {
    const GENERAL_NAME* name = sk_GENERAL_NAME_value(alternatives.get(), i);
    if (name->type != GEN_DNS) continue;
    add_name({reinterpret_cast<const char*>(ASN1_STRING_get0_data(name->d.dNSName)),
              static_cast<std::size_t>(ASN1_STRING_length(name->d.dNSName))},
             names);
  }
  if (alternatives != nullptr) return names;
  const X509_NAME* subject = X509_get_subject_name(certificate);
  const int at = X509_NAME_get_index_by_NID(subject, NID_commonName, -1);
  if (at < 0) return names;
  const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(subject, at));
  add_name(
      {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)), static_cast<std::size_t>(ASN1_STRING_length(text))},
      names);
  return names;
}

/// The common name, else all of it as RFC 2253 writes it.
std::string text_of(const X509_NAME* name) {
  const int at = X509_NAME_get_index_by_NID(name, NID_commonName, -1);
  if (at >= 0) {
    const ASN1_STRING* text = X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, at));
    return {reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
            static_cast<std::size_t>(ASN1_STRING_length(text))};
  }
  const BioPtr out(BIO_new(BIO_s_mem()));
  X509_NAME_print_ex(out.get(), name, 0, XN_FLAG_RFC2253);
  char* bytes = nullptr;
  const long length = BIO_get_mem_data(out.get(), &bytes);
  return length > 0 ? std::string(bytes, static_cast<std::size_t>(length)) : std::string();
}

std::string key_text(X509* certificate) {
  EVP_PKEY* const key = X509_get0_pubkey(certificate);
  if (key == nullptr) {
    ERR_clear_error();
    return {};
  }
  const char* const name = EVP_PKEY_get0_type_name(key);
  return std::string(name == nullptr ? "" : name) + " " + std::to_string(EVP_PKEY_get_bits(key));
}

}  // namespace

void Release::operator()(x509_st* object) const { X509_free(object); }
void Release::operator()(x509_store_st* object) const { X509_STORE_free(object); }
void Release::operator()(evp_pkey_st* object) const { EVP_PKEY_free(object); }

// ---- Certificate --------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const Certificate>> Certificate::read(std::string_view chain, std::string_view key) {
  auto certificates = read_certificates(chain, kMaxChain);
  if (!certificates) return invalid("tls.crt: " + certificates.error().text);
  if (key.size() > kMaxPemBytes) return invalid("tls.key: larger than 1 MiB");
  std::shared_ptr<Certificate> made(new Certificate);
  made->key_.reset(first_in_pem<PEM_read_bio_PrivateKey>(key));
  // What OpenSSL says of a key could quote it.
  if (made->key_ == nullptr) return invalid("tls.key: not a private key in PEM without a password");
  made->leaf_ = std::move(certificates->front());
  made->chain_.assign(std::make_move_iterator(certificates->begin() + 1), std::make_move_iterator(certificates->end()));
  if (X509_check_private_key(made->leaf_.get(), made->key_.get()) != 1) {
    ERR_clear_error();
    return invalid("tls.key: not the key of the certificate");
  }
  if (EVP_PKEY_get_security_bits(made->key_.get()) < kLeastSecurityBits) {
    return invalid("tls.key: the key is too short to be accepted by clients");
  }
  made->key_type_ = EVP_PKEY_get_base_id(made->key_.get());
  made->names_ = names_of(made->leaf_.get());
  made->not_after_ = seconds_of(X509_get0_notAfter(made->leaf_.get()));
  return std::shared_ptr<const Certificate>(std::move(made));
}

Result<CertificateFacts> certificate_facts(std::string_view chain) {
  const auto certificates = read_certificates(chain, kMaxChain);
  if (!certificates) return certificates.error();
  X509* const leaf = certificates->front().get();
  const X509_NAME* const subject = X509_get_subject_name(leaf);
  const X509_NAME* const issuer = X509_get_issuer_name(leaf);
  return CertificateFacts{.names = names_of(leaf),
                          .subject = text_of(subject),
                          .issuer = text_of(issuer),
                          .not_before = seconds_of(X509_get0_notBefore(leaf)),
                          .not_after = seconds_of(X509_get0_notAfter(leaf)),
                          .key_type = key_text(leaf),
                          .intermediates = certificates->size() - 1,
                          .self_signed = X509_NAME_cmp(subject, issuer) == 0};
}

// ---- Staple -------------------------------------------------------------------------------------------------------

Result<std::shared_ptr<const Staple>> Staple::read(std::string_view der, const Certificate& certificate) {
  if (der.size() > kMaxPemBytes) return invalid("larger than 1 MiB");
  const auto* at = reinterpret_cast<const unsigned char*>(der.data());
  const Owned<OCSP_RESPONSE, OCSP_RESPONSE_free> response(
      d2i_OCSP_RESPONSE(nullptr, &at, static_cast<long>(der.size())));
  if (response == nullptr || OCSP_response_status(response.get()) != OCSP_RESPONSE_STATUS_SUCCESSFUL) {
    ERR_clear_error();
    return invalid("not an OCSP response that says anything");
  }
  const Owned<OCSP_BASICRESP, OCSP_BASICRESP_free> basic(OCSP_response_get1_basic(response.get()));
  if (basic == nullptr || certificate.chain().empty()) {
    ERR_clear_error();
    return invalid("an OCSP response needs its certificate's issuer in tls.crt");
  }
  X509* const issuer = certificate.chain().front().get();
  const Owned<X509_STORE, X509_STORE_free> store(X509_STORE_new());
  X509_STORE_add_cert(store.get(), issuer);
  X509_STORE_set_flags(store.get(), X509_V_FLAG_PARTIAL_CHAIN);
  if (OCSP_basic_verify(basic.get(), nullptr, store.get(), 0) != 1) {
    return invalid("not signed by the certificate's issuer: " + take_error());
  }
  const Owned<OCSP_CERTID, OCSP_CERTID_free> id(OCSP_cert_to_id(nullptr, certificate.leaf(), issuer));
  int status = 0;
  int reason = 0;
  ASN1_GENERALIZEDTIME* revoked = nullptr;
  ASN1_GENERALIZEDTIME* from = nullptr;
  ASN1_GENERALIZEDTIME* until = nullptr;
  if (OCSP_resp_find_status(basic.get(), id.get(), &status, &reason, &revoked, &from, &until) != 1) {
    return invalid("it is of another certificate");
  }
  if (status == V_OCSP_CERTSTATUS_REVOKED) {
    return Error{ErrorCode::kFailedPrecondition, "it says that the certificate is revoked"};
  }
  if (status != V_OCSP_CERTSTATUS_GOOD) return invalid("it says that the certificate is not good");
  std::shared_ptr<Staple> made(new Staple);
  made->der_ = der;
  made->from_ = seconds_of(from) - kSkew;
  made->until_ = until != nullptr ? seconds_of(until) : seconds_of(from) + kDay;
  return std::shared_ptr<const Staple>(std::move(made));
}

// ---- Authorities --------------------------------------------------------------------------------------------------

Authorities::Authorities() : store_(X509_STORE_new()) {
  // As configured: an authority that is itself signed by another is believed without that one.
  X509_STORE_set_flags(store_.get(), X509_V_FLAG_PARTIAL_CHAIN);
}

Status Authorities::add(std::string_view pem) {
  auto certificates = read_certificates(pem, kMaxAuthorities);
  if (!certificates) return invalid("ca.crt: " + certificates.error().text);
  for (Handle<x509_st>& one : *certificates) {
    if (X509_STORE_add_cert(store_.get(), one.get()) != 1) return invalid("ca.crt: " + take_error());
    // Reads its extensions now, by one thread: the first handshake would, and others wait for it meanwhile.
    X509_check_purpose(one.get(), -1, 0);
    certificates_.push_back(std::move(one));
  }
  return {};
}

Status Authorities::add_revoked(std::string_view pem) {
  if (pem.size() > kMaxPemBytes) return invalid("ca.crl: larger than 1 MiB");
  const BioPtr reader = pem_reader(pem);
  std::size_t lists = 0;
  while (X509_CRL* const read = PEM_read_bio_X509_CRL(reader.get(), nullptr, nullptr, nullptr)) {
    const Owned<X509_CRL, X509_CRL_free> list(read);
    if (++lists > kMaxAuthorities) return invalid("ca.crl: more than 4096 lists");
    if (X509_STORE_add_crl(store_.get(), list.get()) != 1) return invalid("ca.crl: " + take_error());
  }
  if (!at_end()) return invalid("ca.crl: " + take_error());
  if (lists == 0) return invalid("ca.crl: there is no list in it");
  return {};
}

Status Authorities::allow_only(std::string_view list) {
  limited_ = true;
  while (!list.empty()) {
    const std::string_view line = list.substr(0, list.find('\n'));
    list.remove_prefix(std::min(list.size(), line.size() + 1));
    if (line.empty()) continue;
    const std::size_t space = line.find(' ');
    std::uint64_t after = 0;
    const std::string_view number = line.substr(std::min(space, line.size() - 1) + 1);
    const auto read = std::from_chars(number.data(), number.data() + number.size(), after);
    if (space == std::string_view::npos || read.ec != std::errc() || read.ptr != number.data() + number.size() ||
        allowed_.size() >= kMaxAuthorities) {
      return invalid("peers: no list of URIs and times");
    }
    allowed_.insert_or_assign(std::string(line.substr(0, space)), after);
  }
  return {};
}

bool Authorities::allows(x509_st* certificate) const {
  if (!limited_) return true;
  if (certificate == nullptr) return false;
  // Of the 16 bytes of the serial number the first eight are the time of issue (controller/authority/certificates.h).
  BIGNUM* const number = ASN1_INTEGER_to_BN(X509_get0_serialNumber(certificate), nullptr);
  std::array<unsigned char, 16> bytes{};
  const bool fits = number != nullptr && BN_bn2binpad(number, bytes.data(), bytes.size()) == bytes.size();
  BN_free(number);
  if (!fits) return false;
  std::uint64_t issued = 0;
  for (std::size_t i = 0; i < 8; ++i) issued = issued << 8 | bytes[i];
  bool found = false;
  auto* const names =
      static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(certificate, NID_subject_alt_name, nullptr, nullptr));
  for (int i = 0; names != nullptr && i < sk_GENERAL_NAME_num(names); ++i) {
    const GENERAL_NAME* const name = sk_GENERAL_NAME_value(names, i);
    if (name->type != GEN_URI) continue;
    const ASN1_STRING* const text = name->d.uniformResourceIdentifier;
    const auto allowed = allowed_.find(std::string_view(reinterpret_cast<const char*>(ASN1_STRING_get0_data(text)),
                                                        static_cast<std::size_t>(ASN1_STRING_length(text))));
    found |= allowed != allowed_.end() && issued > allowed->second;
  }
  GENERAL_NAMES_free(names);
  return found;
}

void Authorities::check_revoked(RevocationLists lists) {
  X509_STORE_set_flags(store_.get(), X509_V_FLAG_CRL_CHECK | X509_V_FLAG_CRL_CHECK_ALL);
  X509_STORE_set_verify_cb(store_.get(),
                           lists == RevocationLists::kNeeded ? with_needed_lists : with_lists_that_are_there);
}

Status Authorities::add_system() {
  if (X509_STORE_set_default_paths(store_.get()) == 1) return {};
  return Error{ErrorCode::kUnavailable, "the system's authorities cannot be read: " + take_error()};
}

}  // namespace edge::net::tls
