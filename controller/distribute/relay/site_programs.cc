#include "controller/distribute/relay/site_programs.h"

#include <algorithm>
#include <cstring>

#include "controller/distribute/protocol.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxVersionText = 64;

program::Hash section_hash(const program::SectionEntry& entry) {
  program::Hash hash;
  std::ranges::copy(entry.sha256, hash.begin());
  return hash;
}

bool is_program(const std::string& bytes, const program::Hash& hash) {
  return bytes.size() == hash.size() && std::memcmp(bytes.data(), hash.data(), hash.size()) == 0;
}

}  // namespace

Status SitePrograms::hear(const edge::relay::v1::ProgramsUp& up) {
  if (up.has_hello() == greeted_) return Error{ErrorCode::kInvalidArgument, "one hello, and that first"};
  if (up.has_hello()) return greet(up.hello());
  if (up.has_holdings()) return take_holdings(up.holdings());
  if (up.has_wanted()) return want(up.wanted());
  if (up.has_taken()) return taken(up.taken());
  return {};  // of a newer protocol: passed over
}

Status SitePrograms::greet(const edge::relay::v1::Hello& hello) {
  if (hello.oldest_protocol() > kNewestProtocol || hello.protocol() < kOldestProtocol) {
    return Error{ErrorCode::kFailedPrecondition, "no protocol in common with the relay"};
  }
  greeted_ = welcome_due_ = true;
  protocol_ = std::min(hello.protocol(), kNewestProtocol);
  version_ = printable(hello.version(), kMaxVersionText);
  return {};
}

Status SitePrograms::take_holdings(const edge::relay::v1::Holdings& holdings) {
  // They are sorted once: a relay that says them again and again would keep the threads of all busy.
  if (holdings_known_) return Error{ErrorCode::kInvalidArgument, "holdings are said once"};
  for (const std::string& hash : holdings.sections()) {
    if (hash.size() != sizeof(program::Hash) || held_.size() >= kMostHoldings) {
      return Error{ErrorCode::kInvalidArgument, "holdings that are none"};
    }
    std::memcpy(held_.emplace_back().data(), hash.data(), hash.size());
  }
  if (!holdings.last()) return {};
  std::ranges::sort(held_);
  holdings_due_ = false;
  holdings_known_ = true;
  return {};
}

Status SitePrograms::want(const edge::relay::v1::Group& group) {
  if (wanted_.contains(group.group()) || wanted_.size() >= Hub::kMaxGroups) {
    return Error{ErrorCode::kInvalidArgument, "a group that is wanted twice, or one too many"};
  }
  if (!std::ranges::binary_search(granted_, group.group())) {
    if (refused_.size() >= Hub::kMaxGroups) return Error{ErrorCode::kResourceExhausted, "too many groups"};
    refused_.emplace_back(printable(group.group(), 64), "agents of the cluster may not be in it: spec.agentGroups");
    return {};
  }
  auto entered = hub_.enter_group(group.group());
  if (!entered) return entered.error();
  Wanted wanted{.membership = std::move(*entered), .base = hub_.outline(group.program()), .offered = nullptr};
  holdings_due_ = holdings_due_ || (!group.program().empty() && !wanted.base && !holdings_known_);
  tell_holdings_due_ = holdings_due_;
  wanted_.emplace(group.group(), std::move(wanted));
  return {};
}

Status SitePrograms::taken(const edge::relay::v1::Group& group) {
  const auto found = wanted_.find(group.group());
  if (!sent_whole_ || group.group() != sending_ || found == wanted_.end() ||
      !is_program(group.program(), found->second.offered->program)) {
    return Error{ErrorCode::kInvalidArgument, "a program taken that was not sent"};
  }
  found->second.base = found->second.offered;
  sent_whole_ = false;
  return {};
}

bool SitePrograms::is_overtaken() const { return feed_ && feed_->publication().version().version < hub_.oldest_sent(); }

bool SitePrograms::next(edge::relay::v1::ProgramsDown& down) {
  if (!greeted_) return false;
  if (std::exchange(welcome_due_, false)) {
    down.mutable_welcome()->set_protocol(protocol_);
    down.mutable_welcome()->set_version(EDGE_VERSION);
    return true;
  }
  if (!refused_.empty()) {
    down.mutable_refused()->set_group(refused_.front().first);
    down.mutable_refused()->set_reason(refused_.front().second);
    refused_.pop_front();
    return true;
  }
  if (std::exchange(tell_holdings_due_, false)) {
    down.set_tell_holdings(true);
    return true;
  }
  if (holdings_due_ || sent_whole_) return false;
  if (!feed_) offer();
  if (!feed_) return false;
  down.mutable_part()->set_group(sending_);
  feed_->next(*down.mutable_part()->mutable_part());
  if (feed_->at_end()) {
    feed_.reset();
    sent_whole_ = true;
  }
  return true;
}

/// Takes the first group of which something else is published than the site has.
void SitePrograms::offer() {
  for (auto& [name, group] : wanted_) {
    const auto next = hub_.current(group.membership.group).program;
    if (next == nullptr || (group.offered && group.offered->program == next->outline().program)) continue;
    group.offered = next->shared_outline();
    if (group.base && group.base->program == next->outline().program) continue;
    sending_ = name;
    feed_.emplace(next, group.base, change_to(*next, group.base.get()));
    return;
  }
}

/// Sections that came with another group's program, or are on the relay's disk, are not sent.
std::shared_ptr<const Difference> SitePrograms::change_to(const Publication& next, const Outline* base) const {
  if (base != nullptr && held_.empty() && wanted_.size() == 1) return next.from(*base);
  std::vector<program::Hash> held = held_;
  for (const auto& [name, group] : wanted_) {
    if (!group.base) continue;
    for (const program::SectionEntry& entry : group.base->entries) held.push_back(section_hash(entry));
  }
  std::ranges::sort(held);
  return std::make_shared<const Difference>(difference(base, next.outline(), held));
}

}  // namespace edge::controller
