// Assigns hosts to shards of native code, and keeps the sections of hosts, which name their shards. Part of `compile`
// (docs/decisions/0003).
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "base/result.h"
#include "compiler/cache/compiled_hosts.h"
#include "compiler/cache/native_shards.h"
#include "compiler/cache/regex_sets.h"
#include "compiler/link/linked_config.h"

namespace edge::compiler {

/// Not thread-safe. `hosts` and `kept` must outlive this object.
class HostShards {
 public:
  HostShards(CompiledHosts& hosts, program::Target target, DiskCache* kept)
      : hosts_(hosts), makes_code_(target != program::Target::kTablesOnly), natives_(target, kept) {}

  /// Chooses the shards, and keeps unchanged sections.
  void take(std::vector<HostWork>& works);
  /// Builds the code of the changed shards.
  Result<NativeShards::Counts> build();

  /// Returns the code of one host, to run in this process; null when it has none.
  Result<const program::NativeHost*> code_of(std::uint64_t host_id);
  /// Returns the sections of code, by shard.
  std::map<std::uint32_t, program::BlobPtr> blobs() const { return natives_.blobs(); }

 private:
  void choose(const std::vector<HostWork>& works);
  std::uint32_t shard_of(std::uint64_t host_id) const;

  CompiledHosts& hosts_;
  bool makes_code_;
  NativeShards natives_;
  std::uint32_t shards_ = 0;
};

/// Proves each host of `works` on its section in `hosts`, and stores the findings there. \returns whether all were
/// proved; an error when native code could not be run.
Result<bool> prove_hosts(const LinkedConfig& config, const std::vector<HostWork>& works, CompiledHosts& hosts,
                         HostShards& shards, RegexSets& regexes);

}  // namespace edge::compiler
