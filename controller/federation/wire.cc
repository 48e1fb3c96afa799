#include "controller/federation/wire.h"

#include <algorithm>

namespace edge::federation {
namespace {

constexpr std::size_t kMostName = 253;
constexpr std::size_t kMostCluster = 64;
constexpr std::size_t kMostLives = 64;
constexpr std::size_t kMostKey = 512;
constexpr std::size_t kSignature = 64;
constexpr std::size_t kDigest = 32;

Error malformed(const char* what) { return {ErrorCode::kInvalidArgument, std::string("federation: ") + what}; }

void write_replica(const ReplicaId& id, v1::Replica& out) {
  out.set_cluster(id.cluster);
  out.set_incarnation(id.incarnation);
}
ReplicaId replica_of(const v1::Replica& in) { return {in.cluster(), in.incarnation()}; }
bool is_valid(const ReplicaId& id) { return !id.cluster.empty() && id.cluster.size() <= kMostCluster; }

}  // namespace

void write(const ObjectKey& key, v1::Key& out) {
  out.set_kind(key.kind);
  out.set_namespace_(key.name_space);
  out.set_name(key.name);
}
Result<ObjectKey> read(const v1::Key& in) {
  if (in.kind().empty() || in.name().empty() || in.kind().size() > kMostName || in.name().size() > kMostName ||
      in.namespace_().size() > kMostName) {
    return malformed("an object without kind or name, or with a longer one than 253");
  }
  return ObjectKey{in.kind(), in.namespace_(), in.name()};
}

void write(const Dot& dot, v1::Dot& out) {
  write_replica(dot.replica, *out.mutable_replica());
  out.set_counter(dot.counter);
}
Result<Dot> read(const v1::Dot& in) {
  const Dot dot{replica_of(in.replica()), in.counter()};
  if (!is_valid(dot.replica) || dot.counter == 0) return malformed("a version without author or counter");
  return dot;
}

void write(const NamedDot& named, v1::NamedDot& out) {
  write(named.key, *out.mutable_key());
  write(named.dot, *out.mutable_dot());
}
Result<NamedDot> read(const v1::NamedDot& in) {
  auto key = read(in.key());
  if (!key) return key.error();
  auto dot = read(in.dot());
  if (!dot) return dot.error();
  return NamedDot{std::move(*key), std::move(*dot)};
}

void write(const Scope& scope, v1::Scope& out) {
  for (const std::string& kind : scope.kinds) out.add_kinds(kind);
  if (scope.nothing) out.add_kinds();
  for (const std::string& name : scope.namespaces) out.add_namespaces(name);
}
Result<Scope> read(const v1::Scope& in) {
  if (in.kinds_size() > 64 || in.namespaces_size() > 1024) return malformed("too many kinds or namespaces");
  Scope scope;
  for (const std::string& kind : in.kinds()) {
    if (kind.empty()) {
      scope.nothing = true;
    } else {
      scope.kinds.push_back(kind);
    }
  }
  scope.namespaces.assign(in.namespaces().begin(), in.namespaces().end());
  return scope;
}

std::string statement_of(const Version& version) {
  v1::Statement out;
  write(version.key, *out.mutable_key());
  write(version.dot, *out.mutable_dot());
  out.set_time(version.time);
  out.set_deleted(version.deleted);
  out.set_origin(version.origin);
  out.set_digest(version.digest);
  out.set_rank(version.rank);
  out.set_rank_cluster(version.rank_cluster);
  for (const auto& [replica, ranges] : version.past.entries()) {
    v1::Entry& entry = *out.add_past();
    write_replica(replica, *entry.mutable_replica());
    for (const Range& range : ranges) {
      entry.add_ranges(range.first);
      entry.add_ranges(range.last);
    }
  }
  return out.SerializeAsString();
}

namespace {

Result<Past> read_past(const v1::Statement& in) {
  if (static_cast<std::size_t>(in.past_size()) > Past::kMostReplicas)
    return malformed("a version of too many replicas");
  Past past;
  for (const v1::Entry& entry : in.past()) {
    const ReplicaId replica = replica_of(entry.replica());
    if (!is_valid(replica) || entry.ranges_size() % 2 != 0 || entry.ranges_size() == 0 ||
        static_cast<std::size_t>(entry.ranges_size()) > 2 * Past::kMostRanges) {
      return malformed("an entry of a clock that is none");
    }
    for (int i = 0; i < entry.ranges_size(); i += 2) {
      const Range range{entry.ranges(i), entry.ranges(i + 1)};
      // The highest number has none after it.
      if (range.first == 0 || range.last < range.first || range.last == UINT64_MAX) {
        return malformed("a range of a clock that is none");
      }
      past.add(replica, range);
    }
  }
  return past;
}

Status read_statement(Version& version) {
  v1::Statement in;
  if (!in.ParseFromString(version.statement)) return malformed("a statement that cannot be read");
  auto key = read(in.key());
  if (!key) return key.error();
  auto dot = read(in.dot());
  if (!dot) return dot.error();
  auto past = read_past(in);
  if (!past) return past.error();
  version.key = std::move(*key);
  version.dot = std::move(*dot);
  version.past = std::move(*past);
  version.time = in.time();
  version.deleted = in.deleted();
  version.origin = in.origin();
  version.digest = in.digest();
  version.rank = in.rank();
  version.rank_cluster = in.rank_cluster();
  if (!version.past.contains(version.dot)) return malformed("a version that is not in its own clock");
  if (version.origin.empty() || version.origin.size() > kMostCluster) return malformed("a version without origin");
  if (version.rank_cluster.size() > kMostCluster) return malformed("a rank that is none");
  if (version.digest.size() != kDigest) return malformed("a digest that is none");
  return {};
}

}  // namespace

void write(const Version& version, v1::Version& out) {
  out.set_statement(version.statement);
  out.set_signature(version.signature);
  out.set_content(version.content);
  for (const auto& [replica, proof] : version.proofs) {
    v1::Proof& one = *out.add_proofs();
    write_replica(replica, *one.mutable_replica());
    one.set_counter(proof.counter);
    one.set_statement(proof.statement);
    one.set_signature(proof.signature);
  }
}

Result<VersionPtr> read(const v1::Version& in) {
  if (in.content().size() > Version::kMostContent) return malformed("an object larger than 256 KiB");
  if (in.signature().size() > kSignature || static_cast<std::size_t>(in.proofs_size()) > Past::kMostReplicas) {
    return malformed("signatures that are none");
  }
  auto version = std::make_shared<Version>();
  version->statement = in.statement();
  version->signature = in.signature();
  version->content = in.content();
  for (const v1::Proof& proof : in.proofs()) {
    // Of the first format: it proves nothing, so that its version is refused, and no other.
    if (proof.statement().empty()) continue;
    const ReplicaId replica = replica_of(proof.replica());
    if (!is_valid(replica) || proof.signature().size() > kSignature || proof.statement().size() != kDigest) {
      return malformed("a proof that is none");
    }
    version->proofs[replica] = {proof.counter(), proof.statement(), proof.signature()};
  }
  if (const Status status = read_statement(*version); !status) return status.error();
  if (version->deleted && !version->content.empty()) return malformed("a deletion with content");
  return VersionPtr(std::move(version));
}

void write(const std::vector<Life>& lives, google::protobuf::RepeatedPtrField<v1::Life>& out) {
  for (const Life& life : lives) {
    v1::Life& one = *out.Add();
    one.set_incarnation(life.incarnation);
    one.set_last(life.last);
  }
}

Result<std::vector<Life>> read(const google::protobuf::RepeatedPtrField<v1::Life>& in) {
  if (static_cast<std::size_t>(in.size()) > kMostLives) return malformed("more than 64 lives");
  std::vector<Life> lives;
  for (const v1::Life& life : in) lives.push_back({life.incarnation(), life.last()});
  return lives;
}

void write(const Member& member, v1::Member& out) {
  out.set_cluster(member.cluster);
  out.set_name(member.name);
  out.set_public_key(member.public_key);
}

Result<Member> read(const v1::Member& in) {
  if (in.cluster().empty() || in.cluster().size() > kMostCluster || in.name().size() > kMostName ||
      in.public_key().size() > kMostKey) {
    return malformed("a member without UID, or with too long a field");
  }
  return Member{in.cluster(), in.name(), in.public_key()};
}

}  // namespace edge::federation
