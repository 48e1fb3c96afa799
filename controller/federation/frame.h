// The frames that two clusters exchange (schemas/federation.proto), as structs, and their bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/result.h"
#include "controller/federation/version.h"

namespace edge::federation {

inline constexpr std::uint32_t kProtocol = 1;
inline constexpr std::size_t kMostFrame = 512 << 10;

/// Kinds and namespaces.
struct Scope {
  std::vector<std::string> kinds{};       ///< empty: all but Secret, which travels only when it is named
  std::vector<std::string> namespaces{};  ///< empty: all
  bool nothing = false;                   ///< on the wire: a kind without a name
  bool covers(const ObjectKey& key) const;
  friend bool operator==(const Scope&, const Scope&) = default;
};

/// A life of a state, and the last sequence number of it.
struct Life {
  std::uint64_t incarnation = 0;
  std::uint64_t last = 0;
  friend bool operator==(const Life&, const Life&) = default;
};

/// A cluster of the federation.
struct Member {
  std::string cluster;
  std::string name{};
  std::string public_key{};  ///< PEM
  friend bool operator==(const Member&, const Member&) = default;
};

enum class Refusal : std::uint8_t {
  kNone,
  kUnknownAuthor,
  kSignature,
  kNotGranted,
  kNotItsOwn,
  kQuota,
  kTooLarge,
  kTime,
};
/// A sentence without a full stop.
std::string_view text_of(Refusal refusal);

struct Hello {
  std::uint32_t protocol = kProtocol;
  ReplicaId replica;
  std::vector<Life> lives;
  std::vector<Life> memory;
  Scope offers;
  Scope accepts;
  std::uint32_t policy = 0;  ///< of a hub: 1 and more, a ConflictPolicy; 0: it is none
  std::string public_key{};  ///< PEM, of the sender
};
/// One version of an object.
struct NamedDot {
  ObjectKey key;
  Dot dot;
  friend auto operator<=>(const NamedDot&, const NamedDot&) = default;
};
struct Resume {
  std::uint64_t processed = 0;
  bool stale = false;
  std::vector<NamedDot> refused{};
  bool uncertain = false;
};
struct Members {
  std::vector<Member> members;
};
struct Delta {
  std::vector<VersionPtr> versions;
  std::uint64_t through = 0;
  bool listed = false;
};
struct Refused {
  ObjectKey key;
  Dot dot;
  Refusal reason = Refusal::kNone;
};
struct Ack {
  std::uint64_t through = 0;
  std::vector<Refused> refusals{};
  bool listed = false;
};
struct KindDigest {
  std::string kind;
  std::string root;
  friend bool operator==(const KindDigest&, const KindDigest&) = default;
};
struct Digests {
  std::vector<KindDigest> kinds;
};
struct Leaves {
  std::string kind;
  std::vector<std::uint64_t> leaves;
};
struct HeldObject {
  ObjectKey key;
  std::vector<Dot> dots;
};
struct Listing {
  std::string kind;
  std::vector<std::uint32_t> leaves;
  std::vector<HeldObject> objects;
  bool answer = false;
};

struct Settle {
  std::vector<NamedDot> deletions;
  bool answer = false;
};

struct Frame {
  std::uint64_t number = 0;
  std::variant<Hello, Resume, Members, Delta, Ack, Digests, Leaves, Listing, Settle> body;
};

std::string encode(const Frame& frame);
/// kInvalidArgument: it is none, or exceeds a bound. A body of a later protocol is none.
Result<Frame> decode_frame(std::string_view bytes);

/// Returns the statement that the author of a version signs.
std::string statement_of(const Version& version);

}  // namespace edge::federation
