#include "net/tls/identity.h"

#include <array>
#include <ctime>
#include <memory>

#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/x509.h>

#include "base/owned.h"
#include "base/text/pem.h"

namespace edge::net::tls {
namespace {

using KeyPtr = Owned<EVP_PKEY, EVP_PKEY_free>;
using CertificatePtr = Owned<X509, X509_free>;
using RequestPtr = Owned<X509_REQ, X509_REQ_free>;

constexpr std::size_t kMaxIdentityBytes = 64 << 10;

KeyPtr key_of(std::string_view pem) {
  return KeyPtr(pem.size() > kMaxIdentityBytes ? nullptr : first_in_pem<PEM_read_bio_PrivateKey>(pem));
}

std::chrono::system_clock::time_point wall_time(const ASN1_TIME* time) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(time, &utc) != 1) return {};
  return std::chrono::system_clock::from_time_t(::timegm(&utc));
}

}  // namespace

Result<std::string> make_private_key() {
  const KeyPtr key(EVP_EC_gen("P-256"));
  std::string text = key == nullptr ? std::string() : to_pem(key.get());
  if (text.empty()) return Error{ErrorCode::kInternal, "cannot generate a key on P-256"};
  return text;
}

Result<std::string> certificate_request(std::string_view private_key) {
  const KeyPtr key = key_of(private_key);
  const RequestPtr request(X509_REQ_new());
  std::string text;
  if (key != nullptr && request != nullptr && X509_REQ_set_pubkey(request.get(), key.get()) == 1 &&
      X509_REQ_sign(request.get(), key.get(), EVP_sha256()) != 0) {
    text = to_pem([&](BIO* out) { return PEM_write_bio_X509_REQ(out, request.get()); });
  }
  if (text.empty()) return Error{ErrorCode::kInternal, "cannot make a certificate request"};
  return text;
}

Result<CertificateTimes> certificate_times(std::string_view pem, std::string_view private_key) {
  const CertificatePtr read(pem.size() > kMaxIdentityBytes ? nullptr : first_in_pem<PEM_read_bio_X509>(pem));
  const KeyPtr key = key_of(private_key);
  if (read == nullptr || key == nullptr || X509_check_private_key(read.get(), key.get()) != 1) {
    return Error{ErrorCode::kFailedPrecondition, "not a certificate with its key"};
  }
  std::array<char, 256> name{};
  X509_NAME_get_text_by_NID(X509_get_subject_name(read.get()), NID_commonName, name.data(), name.size());
  return CertificateTimes{name.data(), wall_time(X509_get0_notBefore(read.get())),
                          wall_time(X509_get0_notAfter(read.get()))};
}

bool are_certificates(std::string_view pem) {
  constexpr std::string_view kBegin = "-----BEGIN";
  std::size_t blocks = 0;
  for (std::size_t at = pem.find(kBegin); at != std::string_view::npos; at = pem.find(kBegin, at + 1)) ++blocks;
  const BioPtr bio = pem.size() > kMaxIdentityBytes ? nullptr : pem_reader(pem);
  std::size_t read = 0;
  while (bio != nullptr && read < blocks) {
    const CertificatePtr one(PEM_read_bio_X509(bio.get(), nullptr, no_passphrase, nullptr));
    if (one == nullptr) break;
    ++read;
  }
  ERR_clear_error();
  return blocks > 0 && read == blocks;
}

}  // namespace edge::net::tls
