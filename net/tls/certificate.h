// Certificates as secrets hold them, read and checked once: a chain with its key, and the authorities to trust.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "net/tls/handles.h"

namespace edge::net::tls {

/// PEM of one secret; larger is refused.
inline constexpr std::size_t kMaxPemBytes = std::size_t{1} << 20;

/// Immutable, and shared by every thread that shows it.
class Certificate {
 public:
  /// `chain`: the certificate first, then what leads to an authority. The error never quotes the key.
  static Result<std::shared_ptr<const Certificate>> read(std::string_view chain, std::string_view key);

  /// The names that it is for, lower case; `*.example.com` stands for one label more.
  const std::vector<std::string>& names() const { return names_; }
  /// Of two with one name and one kind of key the first is shown.
  int key_type() const { return key_type_; }
  /// Seconds since 1970.
  std::int64_t not_after() const { return not_after_; }

  x509_st* leaf() const { return leaf_.get(); }
  evp_pkey_st* key() const { return key_.get(); }
  /// Those after the leaf.
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

/// An answer of the certificate's authority that it is not revoked (RFC 6960), to be sent with it (RFC 6066 §8).
class Staple {
 public:
  /// DER, for the leaf of `certificate`, and signed by the one that follows it in the chain or by whom that one named.
  static Result<std::shared_ptr<const Staple>> read(std::string_view der, const Certificate& certificate);

  std::string_view der() const { return der_; }
  /// A staple that is over says nothing: it is not sent. Seconds since 1970.
  bool valid_at(std::int64_t now) const { return from_ <= now && now < until_; }

 private:
  Staple() = default;

  std::string der_;
  std::int64_t from_ = 0;
  std::int64_t until_ = 0;
};

/// What is asked of lists of revoked certificates (CRLs, RFC 5280 §5).
enum class RevocationLists : std::uint8_t {
  kWhereThere,  ///< an authority without one is believed, and one that is over goes on counting
  kNeeded,      ///< each authority of a chain must have one that is in time, else nobody of it is believed
};

/// Whom to believe what a certificate says. Each is believed for itself, whether it is a root or not.
class Authorities {
 public:
  Authorities();

  /// Adds all of a PEM file; none in it is an error, as is one that cannot be read.
  Status add(std::string_view pem);
  /// Those of the operating system.
  Status add_system();
  /// Adds all lists of a PEM file; none in it is an error, as is one that cannot be read.
  Status add_revoked(std::string_view pem);
  /// From now on certificates are looked up in the lists. An authority's own certificate is believed as configured.
  void check_revoked(RevocationLists lists);

  x509_store_st* store() const { return store_.get(); }
  /// What was added by `add`, in order: told to clients as those whose certificates are wanted.
  const std::vector<Handle<x509_st>>& certificates() const { return certificates_; }

 private:
  Handle<x509_store_st> store_;
  std::vector<Handle<x509_st>> certificates_;
};

}  // namespace edge::net::tls
