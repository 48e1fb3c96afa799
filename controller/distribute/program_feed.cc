#include "controller/distribute/program_feed.h"

#include <algorithm>

#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

/// What an entry takes in a message, about.
constexpr std::size_t kEntryBytes = 56;

}  // namespace

ProgramFeed::ProgramFeed(std::shared_ptr<const Publication> publication, std::shared_ptr<const Outline> base,
                         std::shared_ptr<const Difference> change)
    : publication_(std::move(publication)), base_(std::move(base)), change_(std::move(change)) {}

void ProgramFeed::next(agent::v1::ProgramPart& part) {
  const Outline& outline = publication_->outline();
  if (!begun_) {
    auto& begin = *part.mutable_begin();
    begin.set_program(outline.program.data(), outline.program.size());
    if (base_) begin.set_base(base_->program.data(), base_->program.size());
    begin.set_header(&outline.header, sizeof outline.header);
    begin.set_signature(&outline.signature, sizeof outline.signature);
    begin.set_values(publication_->version().values);
    begun_ = true;
  }
  std::size_t room = kPartBytes;
  for (; removed_ < change_->removed.size() && room >= kEntryBytes; ++removed_, room -= kEntryBytes) {
    const program::SectionEntry& entry = base_->entries[change_->removed[removed_]];
    auto& key = *part.add_removed();
    key.set_kind(static_cast<std::uint32_t>(entry.kind));
    key.set_id(entry.id);
  }
  for (; entries_ < change_->entries.size() && room >= kEntryBytes; ++entries_, room -= kEntryBytes) {
    const program::SectionEntry& from = outline.entries[change_->entries[entries_]];
    auto& entry = *part.add_entries();
    entry.set_kind(static_cast<std::uint32_t>(from.kind));
    entry.set_id(from.id);
    entry.set_size(from.size);
    entry.set_hash(from.sha256, sizeof from.sha256);
  }
  // No bytes before the whole table: the agent then knows where each of them belongs.
  const bool reported = removed_ == change_->removed.size() && entries_ == change_->entries.size();
  while (reported && sent_ < change_->sent.size() && room >= kEntryBytes) {
    const program::SectionEntry& from = outline.entries[change_->sent[sent_]];
    const std::uint64_t size = std::min<std::uint64_t>(from.size - offset_, room);
    auto& chunk = *part.add_chunks();
    chunk.set_hash(from.sha256, sizeof from.sha256);
    chunk.set_bytes(publication_->bytes()->data() + from.offset + offset_, size);
    room -= std::min<std::size_t>(room, size + kEntryBytes);
    offset_ += size;
    if (offset_ < from.size) break;
    offset_ = 0;
    ++sent_;
  }
  ended_ = reported && sent_ == change_->sent.size();
  part.set_last(ended_);
}

}  // namespace edge::controller
