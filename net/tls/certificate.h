// Certificates from secrets, parsed and checked once: chains with keys, OCSP staples, trusted CAs.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/tls/handles.h"

namespace edge::net::tls {

/// PEM of one secret; larger ones are rejected.
inline constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

/// Immutable, shared by all threads.
class Certificate {
 public:
  /// `chain`: the certificate first, then its intermediates. The error never quotes the key.
  static Result<std::shared_ptr<const Certificate>> read(std::string_view chain, std::string_view key);

  /// Returns its host names, lower case; `*.example.com` matches one additional label.
  const std::vector<std::string>& names() const { return names_; }
  /// Of two certificates with the same name and type of key the first is used.
  int key_type() const { return key_type_; }
  /// Seconds since 1970.
  std::int64_t not_after() const { return not_after_; }

  x509_st* leaf() const { return leaf_.get(); }
  evp_pkey_st* key() const { return key_.get(); }
  /// Returns the certificates after the leaf.
  const std::vector<Handle<x509_st>>& chain() const { return chain_; }

 private:
  Certificate() = default;

  Handle<x509_st> leaf_;
  Handle<evp_pkey_st> key_;
  std::vector<Handle<x509_st>> chain_;
  std::vector<std::string> names_;
  int key_type_ = 0;
  std::int64_t not_after_ = 0;
};

/// An OCSP response that the certificate is not revoked (RFC 6960), for stapling (RFC 6066 §8).
class Staple {
 public:
  /// Parses DER; it must be for the leaf of `certificate`, and signed by its issuer in the chain or a responder
  /// delegated by that.
  static Result<std::shared_ptr<const Staple>> read(std::string_view der, const Certificate& certificate);

  std::string_view der() const { return der_; }
  /// Returns whether it is valid; an expired staple is not sent. Seconds since 1970.
  bool valid_at(std::int64_t now) const { return from_ <= now && now < until_; }

 private:
  Staple() = default;

  std::string der_;
  std::int64_t from_ = 0;
  std::int64_t until_ = 0;
};

/// How certificate revocation lists (CRLs, RFC 5280 §5) are used.
enum class RevocationLists : std::uint8_t {
  kWhereThere,  ///< a CA without a list is trusted, and an expired list still counts
  kNeeded,      ///< each CA of a chain must have a current list, else its certificates are rejected
};

/// Trusted CAs. Each is a trust anchor, whether it is a root or not.
class Authorities {
 public:
  Authorities();

  /// Adds all certificates of a PEM file; an empty or unreadable one is an error.
  Status add(std::string_view pem);
  /// Adds those of the operating system.
  Status add_system();
  /// Adds all revocation lists of a PEM file; an empty or unreadable one is an error.
  Status add_revoked(std::string_view pem);
  /// Believes only certificates with one of the URIs of a list, and a serial number that begins with a later time.
  /// Lines `URI MILLISECONDS`, at most 4096; kInvalidArgument for others.
  Status allow_only(std::string_view list);
  /// Returns whether a certificate that verifies is believed: any, without a list.
  bool allows(x509_st* certificate) const;
  bool is_limited() const { return limited_; }
  /// Enables the check of revocation lists. The configured CA certificates themselves are not checked.
  void check_revoked(RevocationLists lists);

  x509_store_st* store() const { return store_.get(); }
  /// Returns the certificates added by `add`, in order: sent to clients as acceptable CAs.
  const std::vector<Handle<x509_st>>& certificates() const { return certificates_; }

 private:
  Handle<x509_store_st> store_;
  std::vector<Handle<x509_st>> certificates_;
  bool limited_ = false;
  /// By URI: milliseconds since 1970.
  std::map<std::string, std::uint64_t, std::less<>> allowed_{};
};

}  // namespace edge::net::tls
