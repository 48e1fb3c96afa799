// The native code of all hosts, in shards, kept between compiles. Part of `compile` (docs/decisions/0003).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "compiler/cache/disk_cache.h"
#include "compiler/emit/native.h"
#include "program/write.h"

namespace edge::compiler {

/// The parts of a host section that its code is made from. Sections that differ only elsewhere have the same code.
using CodeSource = std::shared_ptr<const std::string>;

/// Null when the host needs no code.
CodeSource code_source(const program::SectionView& host);

/// Returns the number of candidates with conditions, which determines the number of shards.
std::size_t conditional_candidates(const program::SectionView& host);

/// Returns a power of two: fewer shards load faster, smaller ones are rebuilt faster.
std::uint32_t shard_count(std::size_t conditional_candidates);

/// Not thread-safe.
class NativeShards {
 public:
  struct Member {
    std::uint64_t host_id;
    program::SectionView host;
    CodeSource source;
  };

  /// `kept` must outlive this object; null: no disk cache.
  NativeShards(program::Target target, DiskCache* kept) : target_(target), kept_(kept) {}

  /// The work done for a compile.
  struct Counts {
    std::size_t built = 0;
    std::size_t from_disk = 0;
  };

  /// Builds the shards whose members' code has changed, and drops those not listed.
  Result<Counts> update(std::map<std::uint32_t, std::vector<Member>> shards);

  /// Returns the code of one host, to run in this process; null when the target is another machine. Loads the shard at
  /// first use.
  Result<const program::NativeHost*> find(std::uint32_t shard, std::uint64_t host_id);

  /// Returns the sections, by shard.
  std::map<std::uint32_t, program::BlobPtr> blobs() const;

 private:
  struct Shard {
    std::vector<std::pair<std::uint64_t, CodeSource>> members;
    std::vector<std::byte> object;
    program::BlobPtr blob;
    std::optional<emit::NativeCode> code;
  };

  Result<emit::NativeShard> build(const std::vector<Member>& members, Counts& counts) const;

  program::Target target_;
  DiskCache* kept_;
  std::map<std::uint32_t, Shard> shards_;
};

}  // namespace edge::compiler
