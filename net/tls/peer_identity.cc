#include "net/tls/peer_identity.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <string_view>

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>

#include "base/text/ascii.h"

namespace edge::net::tls {
namespace {

/// A name with a NUL or another control byte could pass for a shorter one.
std::optional<std::string> text_of(const ASN1_STRING* string) {
  unsigned char* bytes = nullptr;
  const int size = ASN1_STRING_to_UTF8(&bytes, string);
  if (size < 0) return std::nullopt;
  std::string text(reinterpret_cast<char*>(bytes), static_cast<std::size_t>(size));
  OPENSSL_free(bytes);
  if (text.empty() || std::ranges::any_of(text, [](unsigned char c) { return c < 0x20 || c == 0x7f; })) {
    return std::nullopt;
  }
  return text;
}

/// Whoever reads the URI may resolve such segments (RFC 3986 §5.2.4), and be led out of what a prefix names.
bool has_dot_segments(std::string_view uri) {
  while (!uri.empty()) {
    const std::size_t end = std::min(uri.find('/'), uri.size());
    const std::string_view segment = uri.substr(0, end);
    if (segment == "." || segment == "..") return true;
    for (const std::string_view escaped : {"%2e", "%2E", "%2f", "%2F"}) {
      if (segment.find(escaped) != std::string_view::npos) return true;
    }
    uri.remove_prefix(std::min(end + 1, uri.size()));
  }
  return false;
}

std::optional<IpAddress> address_of(const ASN1_OCTET_STRING* string) {
  const unsigned char* const bytes = ASN1_STRING_get0_data(string);
  IpAddress address;
  switch (ASN1_STRING_length(string)) {
    case 4:
      address.bytes[10] = address.bytes[11] = 0xff;
      std::copy_n(bytes, 4, address.bytes.begin() + 12);
      return address;
    case 16:
      std::copy_n(bytes, 16, address.bytes.begin());
      return address;
    default:
      return std::nullopt;
  }
}

/// Reads the names of one certificate; stops at the first that cannot be believed.
class Reader {
 public:
  explicit Reader(PeerIdentity& into) : into_(into) {}

  bool alternative_names(const X509& certificate) {
    int critical = -1;
    const std::unique_ptr<GENERAL_NAMES, decltype(&GENERAL_NAMES_free)> names(
        static_cast<GENERAL_NAMES*>(X509_get_ext_d2i(&certificate, NID_subject_alt_name, &critical, nullptr)),
        GENERAL_NAMES_free);
    // -1: there is none. Others: it occurs twice, or cannot be decoded.
    if (names == nullptr) return critical == -1;
    for (int i = 0; i < sk_GENERAL_NAME_num(names.get()); ++i) {
      if (!add(*sk_GENERAL_NAME_value(names.get(), i))) return false;
    }
    into_.has_alternative_names = true;
    return true;
  }

  bool subject(const X509& certificate) {
    const X509_NAME* const subject = X509_get_subject_name(&certificate);
    for (int i = 0; i < X509_NAME_entry_count(subject); ++i) {
      const X509_NAME_ENTRY* const entry = X509_NAME_get_entry(subject, i);
      if (OBJ_obj2nid(X509_NAME_ENTRY_get_object(entry)) != NID_commonName) continue;
      std::optional<std::string> name = text_of(X509_NAME_ENTRY_get_data(entry));
      if (!name || !fits(*name)) return false;
      into_.common_names.push_back(std::move(*name));
    }
    const std::unique_ptr<BIO, decltype(&BIO_free)> out(BIO_new(BIO_s_mem()), BIO_free);
    if (out == nullptr || X509_NAME_print_ex(out.get(), subject, 0, XN_FLAG_RFC2253) < 0) return false;
    char* text = nullptr;
    const long size = BIO_get_mem_data(out.get(), &text);
    into_.subject.assign(text, static_cast<std::size_t>(std::max(size, 0L)));
    return fits(into_.subject);
  }

  bool fingerprint(const X509& certificate) {
    constexpr char kHex[] = "0123456789abcdef";
    std::array<unsigned char, EVP_MAX_MD_SIZE> digest{};
    unsigned size = 0;
    if (X509_digest(&certificate, EVP_sha256(), digest.data(), &size) != 1) return false;
    for (unsigned i = 0; i < size; ++i) {
      into_.fingerprint += kHex[digest[i] >> 4];
      into_.fingerprint += kHex[digest[i] & 15];
    }
    return true;
  }

 private:
  bool fits(std::string_view name) {
    bytes_ += name.size();
    return ++count_ <= kMostPeerNames && bytes_ <= kMostPeerNameBytes;
  }

  bool add(const GENERAL_NAME& name) {
    if (name.type == GEN_IPADD) {
      const std::optional<IpAddress> address = address_of(name.d.iPAddress);
      if (!address || !fits({})) return false;
      into_.addresses.push_back(*address);
      return true;
    }
    // Kinds that no policy names count for the bound alone.
    if (name.type != GEN_DNS && name.type != GEN_URI && name.type != GEN_EMAIL) return fits({});
    std::optional<std::string> text = text_of(name.d.ia5);
    if (!text || !fits(*text)) return false;
    if (name.type == GEN_DNS) {
      std::string dns = ascii_lower(*text);
      if (dns.ends_with('.')) dns.pop_back();
      into_.dns_names.push_back(std::move(dns));
    } else if (name.type == GEN_URI) {
      if (has_dot_segments(*text)) return false;
      into_.uris.push_back(std::move(*text));
    } else {
      const std::size_t at = std::min(text->rfind('@'), text->size());
      into_.emails.push_back(text->substr(0, at) + ascii_lower(text->substr(at)));
    }
    return true;
  }

  PeerIdentity& into_;
  std::size_t count_ = 0;
  std::size_t bytes_ = 0;
};

}  // namespace

PeerIdentity identity_of(const x509_st& certificate, bool verified) {
  const bool in_time = X509_cmp_current_time(X509_get0_notBefore(&certificate)) < 0 &&
                       X509_cmp_current_time(X509_get0_notAfter(&certificate)) > 0;
  PeerIdentity nobody{.unverified = !verified || !in_time};
  if (nobody.unverified) return nobody;
  PeerIdentity identity{.sound = true};
  Reader reader(identity);
  const bool sound =
      reader.alternative_names(certificate) && reader.subject(certificate) && reader.fingerprint(certificate);
  ERR_clear_error();
  return sound ? identity : nobody;
}

}  // namespace edge::net::tls
