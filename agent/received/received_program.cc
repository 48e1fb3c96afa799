#include "agent/received/received_program.h"

#include <algorithm>
#include <cstring>

#include "program/sha256.h"
#include "schemas/agent.pb.h"

namespace edge::agent {
namespace {

using program::FileHeader;
using program::Hash;
using program::SectionEntry;
using program::SignatureBlock;

Error contradiction(const char* what) {
  return {ErrorCode::kInvalidArgument, std::string("a program came with ") + what};
}

std::optional<Hash> hash_of(const std::string& bytes) {
  Hash hash;
  if (bytes.size() != hash.size()) return std::nullopt;
  std::memcpy(hash.data(), bytes.data(), hash.size());
  return hash;
}

Hash hash_of(const SectionEntry& entry) {
  Hash hash;
  std::ranges::copy(entry.sha256, hash.begin());
  return hash;
}

/// The table of a program that was read before.
std::vector<SectionEntry> table_of(std::span<const std::byte> program) {
  FileHeader header{};
  if (program.size() < sizeof header) return {};
  std::memcpy(&header, program.data(), sizeof header);
  if (header.section_count > (program.size() - sizeof header) / sizeof(SectionEntry)) return {};
  std::vector<SectionEntry> entries(header.section_count);
  std::memcpy(entries.data(), program.data() + sizeof header, entries.size() * sizeof(SectionEntry));
  std::erase_if(entries, [&](const SectionEntry& entry) {
    return entry.offset > program.size() || entry.size > program.size() - entry.offset;
  });
  return entries;
}

std::tuple<std::uint32_t, std::uint64_t> section_key(const SectionEntry& entry) {
  return {static_cast<std::uint32_t>(entry.kind), entry.id};
}

std::uint64_t aligned(std::uint64_t offset) {
  return (offset + program::kSectionAlignment - 1) / program::kSectionAlignment * program::kSectionAlignment;
}

}  // namespace

std::vector<Hash> section_hashes(std::span<const std::byte> program) {
  std::vector<Hash> hashes;
  for (const SectionEntry& entry : table_of(program)) hashes.push_back(hash_of(entry));
  return hashes;
}

void ProgramAssembly::clear() {
  program_.reset();
  base_.clear();
  changes_.clear();
  laid_out_ = false;
  bytes_ = {};
  lacking_.clear();
  coming_.reset();
  filled_ = 0;
}

Status ProgramAssembly::begin(const v1::ProgramBegin& begin, const ProgramBytes& running) {
  clear();
  const auto hash = hash_of(begin.program());
  if (!hash || begin.header().size() != sizeof header_ || begin.signature().size() != sizeof signature_) {
    return contradiction("a beginning of another size");
  }
  std::memcpy(&header_, begin.header().data(), sizeof header_);
  std::memcpy(&signature_, begin.signature().data(), sizeof signature_);
  if (header_.section_count > program::kMaxSections || header_.file_size > program::kMaxProgramBytes) {
    return Error{ErrorCode::kResourceExhausted, "a program came that is larger than any that is taken"};
  }
  if (!begin.base().empty()) {
    if (running) base_ = table_of(*running);
    const std::size_t manifest = sizeof(FileHeader) + base_.size() * sizeof(SectionEntry);
    const auto named = hash_of(begin.base());
    if (!running || running->size() < manifest || !named ||
        program::manifest_hash(std::span(*running).first(manifest)) != *named) {
      return Error{ErrorCode::kFailedPrecondition, "a program came that builds on another than the one that runs"};
    }
  }
  values_ = begin.values();
  program_ = hash;
  return {};
}

Status ProgramAssembly::change(const v1::ProgramPart& part) {
  if (laid_out_ && (part.removed_size() > 0 || part.entries_size() > 0)) return contradiction("a table in two pieces");
  for (const v1::SectionKey& key : part.removed()) {
    if (!remove({key.kind(), key.id()})) return contradiction("a section taken away that was not there");
  }
  for (const v1::SectionEntry& from : part.entries()) {
    const auto hash = hash_of(from.hash());
    if (!hash || from.size() > program::kMaxProgramBytes) return contradiction("a section of no such size");
    SectionEntry entry{};
    entry.kind = static_cast<program::SectionKind>(from.kind());
    entry.id = from.id();
    entry.size = from.size();
    std::ranges::copy(*hash, entry.sha256);
    changes_[{from.kind(), from.id()}] = entry;
    // At most all that the base has goes, and a whole program comes.
    if (changes_.size() > 2 * std::size_t{program::kMaxSections}) return contradiction("too many sections");
  }
  return {};
}

bool ProgramAssembly::remove(const Key& key) {
  const auto base = std::ranges::lower_bound(base_, key, {}, section_key);
  const bool in_base = base != base_.end() && section_key(*base) == key;
  const auto changed = changes_.find(key);
  if (changed == changes_.end() ? !in_base : !changed->second) return false;
  if (in_base) {
    changes_[key] = std::nullopt;
  } else {
    changes_.erase(changed);
  }
  return true;
}

std::vector<SectionEntry> ProgramAssembly::changed_table() const {
  std::vector<SectionEntry> table;
  table.reserve(base_.size() + changes_.size());
  auto base = base_.begin();
  for (const auto& [key, entry] : changes_) {
    for (; base != base_.end() && section_key(*base) < key; ++base) table.push_back(*base);
    if (base != base_.end() && section_key(*base) == key) ++base;
    if (entry) table.push_back(*entry);
  }
  table.insert(table.end(), base, base_.end());
  return table;
}

Status ProgramAssembly::lay_out(const ProgramBytes& running) {
  std::vector<SectionEntry> table = changed_table();
  if (table.size() != header_.section_count) return contradiction("another number of sections than it says");
  std::vector<std::uint64_t> sources;
  sources.reserve(table.size());
  std::uint64_t end = sizeof(FileHeader) + table.size() * sizeof(SectionEntry) + sizeof(SignatureBlock);
  for (SectionEntry& entry : table) {
    sources.push_back(entry.offset);
    entry.offset = aligned(end);
    end = entry.offset + entry.size;
    if (end > header_.file_size) return contradiction("more in its sections than in its file");
  }
  if (end != header_.file_size) return contradiction("another size than it says");

  const auto entries = std::as_bytes(std::span(table));
  std::vector<std::byte> head(sizeof header_ + entries.size());
  std::memcpy(head.data(), &header_, sizeof header_);
  std::ranges::copy(entries, head.begin() + sizeof header_);
  if (program::manifest_hash(head) != *program_) return contradiction("a table that is not the announced one");

  bytes_.resize(header_.file_size);
  std::ranges::copy(head, bytes_.begin());
  std::memcpy(bytes_.data() + head.size(), &signature_, sizeof signature_);
  fill_in(table, running, std::move(sources));
  laid_out_ = true;
  return {};
}

void ProgramAssembly::fill_in(const std::vector<SectionEntry>& table, const ProgramBytes& running,
                              std::vector<std::uint64_t> sources) {
  // What is new by its name may be there under another.
  std::vector<std::pair<Hash, std::size_t>> wanted;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (sources[i] == 0) wanted.emplace_back(hash_of(table[i]), i);
  }
  std::ranges::sort(wanted);
  if (running && !wanted.empty()) {
    for (const SectionEntry& has : table_of(*running)) {
      const auto same = std::ranges::equal_range(wanted, hash_of(has), {}, &std::pair<Hash, std::size_t>::first);
      for (const auto& [hash, index] : same) {
        if (table[index].size == has.size) sources[index] = has.offset;
      }
    }
  }
  for (std::size_t i = 0; i < table.size(); ++i) {
    const SectionEntry& entry = table[i];
    if (sources[i] != 0) {
      std::memcpy(bytes_.data() + entry.offset, running->data() + sources[i], entry.size);
    } else {
      lacking_.emplace(hash_of(entry), ByteRange{entry.offset, entry.size});
    }
  }
}

Status ProgramAssembly::finish_section() {
  const auto [first, last] = lacking_.equal_range(*coming_);
  const ByteRange position = first->second;
  const std::span<const std::byte> content = std::span(bytes_).subspan(position.offset, position.size);
  if (program::sha256(content) != *coming_) {
    return Error{ErrorCode::kDataLoss, "a section of a program came that is not what its hash says"};
  }
  for (auto other = std::next(first); other != last; ++other) {
    if (other->second.size != position.size) return contradiction("one section of two sizes");
    std::memcpy(bytes_.data() + other->second.offset, content.data(), position.size);
  }
  if (keeper_ != nullptr) keeper_->came(*coming_, content);
  lacking_.erase(first, last);
  coming_.reset();
  filled_ = 0;
  return {};
}

void ProgramAssembly::find_lacking() {
  for (auto one = lacking_.begin(); one != lacking_.end();) {
    const auto& [offset, size] = one->second;
    one = keeper_->find(one->first, std::span(bytes_).subspan(offset, size)) ? lacking_.erase(one) : std::next(one);
  }
}

Status ProgramAssembly::take_chunk(const v1::SectionChunk& chunk) {
  const auto hash = hash_of(chunk.hash());
  if (!hash || (coming_ && *coming_ != *hash)) return contradiction("a section within another");
  const auto found = lacking_.find(*hash);
  if (found == lacking_.end()) return contradiction("a section that nothing asks for");
  coming_ = hash;
  if (chunk.bytes().size() > found->second.size - filled_) return contradiction("more of a section than there is");
  std::memcpy(bytes_.data() + found->second.offset + filled_, chunk.bytes().data(), chunk.bytes().size());
  filled_ += chunk.bytes().size();
  section_bytes_ += chunk.bytes().size();
  return filled_ == found->second.size ? finish_section() : Status();
}

Result<std::optional<ReceivedProgram>> ProgramAssembly::take(const v1::ProgramPart& part, const ProgramBytes& running) {
  Status status;
  if (part.has_begin()) {
    status = begin(part.begin(), running);
  } else if (!program_) {
    status = contradiction("no beginning");
  }
  if (status) status = change(part);
  if (status && !laid_out_ && (part.chunks_size() > 0 || part.last())) status = lay_out(running);
  for (int i = 0; status && i < part.chunks_size(); ++i) status = take_chunk(part.chunks(i));
  if (status && part.last() && keeper_ != nullptr) find_lacking();
  if (status && part.last() && !lacking_.empty()) {
    status = Error{ErrorCode::kFailedPrecondition, "a program came without a section that is not here"};
  }
  if (!status) {
    clear();
    return status.error();
  }
  if (!part.last()) return std::optional<ReceivedProgram>();
  ReceivedProgram received{std::make_shared<const std::vector<std::byte>>(std::move(bytes_)), *program_, values_};
  clear();
  return std::optional(std::move(received));
}

}  // namespace edge::agent
