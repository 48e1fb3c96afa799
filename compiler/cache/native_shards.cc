#include "compiler/cache/native_shards.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <span>

#include "compiler/cache/emit_revision.h"
#include "compiler/cache/fingerprint.h"

namespace edge::compiler {
namespace {

using program::HostHeader;
using program::Op;

/// An agent opens a shard in 40 us, most of it the loader's; a changed condition compiles its whole shard anew.
constexpr std::size_t kCandidatesPerShard = 512;
constexpr std::size_t kMaxShards = 64;

template <typename T>
void append(std::string& text, const T& value) {
  text.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// All that the code of a shard is made from.
program::Hash kept_key(program::Target target, const std::vector<NativeShards::Member>& members) {
  Fingerprint key;
  key.add("native");
  key.add(kEmitRevision);
  key.add(emit::native_engine_version());
  key.add(target);
  for (const NativeShards::Member& member : members) {
    key.add(member.host_id);
    key.add(*member.source);
  }
  return key.take();
}

/// Both objects of a shard as one value: the size of the first, then the two.
std::vector<std::byte> pack(const emit::NativeShard& shard) {
  const std::uint64_t size = shard.object.size();
  std::vector<std::byte> bytes(sizeof size);
  std::memcpy(bytes.data(), &size, sizeof size);
  bytes.insert(bytes.end(), shard.object.begin(), shard.object.end());
  bytes.insert(bytes.end(), shard.shared_object.begin(), shard.shared_object.end());
  return bytes;
}

std::optional<emit::NativeShard> unpack(std::span<const std::byte> bytes) {
  std::uint64_t size = 0;
  if (bytes.size() < sizeof size) return std::nullopt;
  std::memcpy(&size, bytes.data(), sizeof size);
  bytes = bytes.subspan(sizeof size);
  if (size > bytes.size()) return std::nullopt;
  const auto object = bytes.first(size);
  const auto shared = bytes.subspan(size);
  return emit::NativeShard{{object.begin(), object.end()}, {shared.begin(), shared.end()}};
}

bool names_text(Op op) { return op == Op::kEquals || op == Op::kPathPrefix || op == Op::kContains; }

}  // namespace

std::size_t conditional_candidates(const program::SectionView& host) {
  const auto candidates = host.array(host.header<HostHeader>().candidates);
  return static_cast<std::size_t>(std::ranges::count_if(
      candidates, [](const program::CandidateRecord& candidate) { return candidate.predicate != program::kNone; }));
}

CodeSource code_source(const program::SectionView& host) {
  if (!emit::needs_code(host)) return nullptr;
  const auto& header = host.header<HostHeader>();
  std::string source;
  for (const auto& group : host.array(header.groups)) append(source, group);
  for (const auto& candidate : host.array(header.candidates)) append(source, candidate.predicate);
  for (const std::uint32_t operand : host.array(header.operands)) append(source, operand);
  for (const auto& cidr : host.array(header.cidrs)) append(source, cidr);
  for (program::NodeRecord node : host.array(header.nodes)) {
    // Where a text stands in the section is nothing to the code; the text is.
    std::string_view text;
    if (names_text(node.op)) text = host.string(std::exchange(node.a, 0), node.b);
    append(source, node);
    source.append(text);
  }
  for (const std::uint32_t count : {header.groups.count, header.candidates.count, header.operands.count,
                                    header.cidrs.count, header.slots.count, header.regexes.count})
    append(source, count);
  return std::make_shared<const std::string>(std::move(source));
}

std::uint32_t shard_count(std::size_t candidates) {
  const std::size_t wanted = (candidates + kCandidatesPerShard - 1) / kCandidatesPerShard;
  return static_cast<std::uint32_t>(std::min(kMaxShards, std::bit_ceil(std::max<std::size_t>(wanted, 1))));
}

Result<emit::NativeShard> NativeShards::build(const std::vector<Member>& members, Counts& counts) const {
  const program::Hash key = kept_key(target_, members);
  if (const auto kept = kept_ != nullptr ? kept_->find(key) : std::nullopt) {
    if (auto shard = unpack(*kept)) {
      ++counts.from_disk;
      return std::move(*shard);
    }
  }
  std::vector<emit::NativeInput> inputs;
  for (const Member& member : members) inputs.push_back({member.host_id, member.host});
  auto shard = emit::build_native(target_, std::move(inputs));
  if (!shard) return shard.error();
  ++counts.built;
  if (kept_ != nullptr) kept_->put(key, pack(*shard));
  return shard;
}

Result<NativeShards::Counts> NativeShards::update(std::map<std::uint32_t, std::vector<Member>> shards) {
  std::erase_if(shards_, [&](const auto& known) { return !shards.contains(known.first); });
  Counts counts;
  for (auto& [number, members] : shards) {
    std::ranges::sort(members, {}, &Member::host_id);
    Shard& shard = shards_[number];
    const bool same = std::ranges::equal(shard.members, members, [](const auto& old, const Member& member) {
      return old.first == member.host_id && (old.second == member.source || *old.second == *member.source);
    });
    if (shard.blob != nullptr && same) continue;

    auto native = build(members, counts);
    if (!native) {
      shards_.erase(number);
      return native.error();
    }
    shard = {};
    for (Member& member : members) shard.members.emplace_back(member.host_id, std::move(member.source));
    shard.object = std::move(native->object);
    shard.blob = program::make_blob(std::move(native->shared_object));
  }
  return counts;
}

Result<const program::NativeHost*> NativeShards::find(std::uint32_t number, std::uint64_t host_id) {
  const auto found = shards_.find(number);
  if (found == shards_.end()) return nullptr;
  Shard& shard = found->second;
  if (!shard.code) {
    auto code = emit::NativeCode::load(target_, shard.object);
    if (!code) {
      if (code.error().code == ErrorCode::kFailedPrecondition) return nullptr;
      return code.error();
    }
    shard.code.emplace(std::move(*code));
  }
  const program::NativeIndex& index = shard.code->index();
  const std::span hosts(index.hosts, index.host_count);
  const auto host = std::ranges::lower_bound(hosts, host_id, {}, &program::NativeHost::host_id);
  return host != hosts.end() && host->host_id == host_id ? &*host : nullptr;
}

std::map<std::uint32_t, program::BlobPtr> NativeShards::blobs() const {
  std::map<std::uint32_t, program::BlobPtr> blobs;
  for (const auto& [number, shard] : shards_) blobs.emplace(number, shard.blob);
  return blobs;
}

}  // namespace edge::compiler
