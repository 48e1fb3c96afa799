// One version of a federated object: what a cluster wrote, what it replaces, and the signatures that prove both.
#pragma once

#include <compare>
#include <cstddef>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "base/result.h"
#include "controller/federation/clock.h"

namespace edge::federation {

/// The same object in every cluster. A copy of it is named by its cluster as well (base/resource_id.h).
struct ObjectKey {
  std::string kind;
  std::string name_space{};  ///< empty: cluster-scoped
  std::string name{};
  friend auto operator<=>(const ObjectKey&, const ObjectKey&) = default;
};

/// That a replica wrote version `counter` of an object: what of that version its signature needs.
struct Proof {
  std::uint64_t counter = 0;
  std::string statement{};  ///< SHA-256 of the version's statement, 32 bytes
  std::string signature{};
  friend bool operator==(const Proof&, const Proof&) = default;
};

struct Version {
  static constexpr std::size_t kMostContent = 256 << 10;

  ObjectKey key;
  Dot dot;
  Past past;  ///< with `dot`
  HybridTime time = 0;
  HybridTime rank = 0;         ///< `time`; over the winner of a conflict: just before that one's
  std::string rank_cluster{};  ///< its author, or that of the winner
  bool deleted = false;
  std::string origin;   ///< UID of the cluster that made the object
  std::string digest;   ///< SHA-256 of `content`, 32 bytes
  std::string content;  ///< JSON; empty when deleted

  std::string statement;                ///< as its author encoded it (schemas/federation.proto)
  std::string signature;                ///< of signed_text
  std::map<ReplicaId, Proof> proofs{};  ///< of the last dot of each entry of another cluster
};

using VersionPtr = std::shared_ptr<const Version>;

/// How versions are signed and verified: Ed25519 by the clusters' keys (keys.h).
struct Signatures {
  /// Signs with this cluster's key.
  std::function<Result<std::string>(std::string_view domain, std::string_view message)> sign;
  std::function<bool(const std::string& cluster, std::string_view domain, std::string_view message,
                     std::string_view signature)>
      verify;
};

/// Returns what the author of a version signs: object and dot, and the hash of the statement. So the signature proves
/// the dot without the rest of the statement, too.
std::string signed_text(const Version& version);

/// Returns the proof of a version's dot, for versions over it.
Proof proof_of(const Version& version);

/// Fills digest, statement and signature of a version whose other fields are set.
Status sign_version(Version& version, const Signatures& signatures);

/// Verifies the signature of the author, that the digest is the content's, and each entry of `past`: a cluster cannot
/// claim to have replaced what another has not written. kUnauthenticated, or kInvalidArgument beyond bounds.
Status verify_version(const Version& version, const Signatures& signatures);

/// Of content and statement, in memory and on the wire, nearly.
std::size_t size_of(const Version& version);

}  // namespace edge::federation
