#include "compiler/host_shards.h"

#include <cstddef>
#include <cstring>
#include <unordered_set>
#include <utility>

namespace edge::compiler {
namespace {

void set_shard(std::vector<std::byte>& section, std::uint32_t shard) {
  std::memcpy(section.data() + offsetof(program::HostHeader, native_shard), &shard, sizeof shard);
}

}  // namespace

void HostShards::take(std::vector<HostWork>& works) {
  for (const HostWork& work : works) {
    hosts_.set_code(work.host.id, makes_code_ ? code_source(work.view()) : nullptr,
                    conditional_candidates(work.view()));
  }
  choose(works);
  for (HostWork& work : works) {
    set_shard(work.bytes, shard_of(work.host.id));
    const program::BlobPtr& before = hosts_.at(work.host.id).section;
    if (before != nullptr && before->bytes == work.bytes) continue;
    hosts_.set_section(work.host.id, program::make_blob(std::move(work.bytes)));
  }
}

/// A host with code says which shard holds it, so that a new number of shards moves those that are not made anew, too.
void HostShards::choose(const std::vector<HostWork>& works) {
  const std::uint32_t before = std::exchange(shards_, makes_code_ ? shard_count(hosts_.conditional()) : 0);
  if (shards_ == before) return;
  std::unordered_set<std::uint64_t> made;
  for (const HostWork& work : works) made.insert(work.host.id);
  for (const std::uint64_t id : hosts_.with_code()) {
    if (made.contains(id)) continue;
    std::vector<std::byte> bytes = hosts_.at(id).section->bytes;
    set_shard(bytes, shard_of(id));
    hosts_.set_section(id, program::make_blob(std::move(bytes)));
  }
}

std::uint32_t HostShards::shard_of(std::uint64_t host_id) const {
  return hosts_.at(host_id).code == nullptr || shards_ == 0 ? program::kNone
                                                            : static_cast<std::uint32_t>(host_id & (shards_ - 1));
}

Result<NativeShards::Counts> HostShards::build() {
  std::map<std::uint32_t, std::vector<NativeShards::Member>> members;
  for (const std::uint64_t id : hosts_.with_code()) {
    const CompiledHost& host = hosts_.at(id);
    members[shard_of(id)].push_back({id, program::SectionView(host.section->bytes), host.code});
  }
  return natives_.update(std::move(members));
}

Result<const program::NativeHost*> HostShards::code_of(std::uint64_t host_id) {
  const std::uint32_t shard = shard_of(host_id);
  if (shard == program::kNone) return nullptr;
  return natives_.find(shard, host_id);
}

}  // namespace edge::compiler
