// Programs on their way to a relay: one after the other, each as the difference to what the site has.
#include <algorithm>
#include <cstring>
#include <deque>
#include <map>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/conversation.h"
#include "controller/distribute/program_feed.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/relay/streams.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

/// Sections that a relay says it has: of several programs.
constexpr std::size_t kMostRelayHoldings = std::size_t{1} << 18;

program::Hash section_hash(const program::SectionEntry& entry) {
  program::Hash hash;
  std::ranges::copy(entry.sha256, hash.begin());
  return hash;
}

bool is_program(const std::string& bytes, const program::Hash& hash) {
  return bytes.size() == hash.size() && std::memcmp(bytes.data(), hash.data(), hash.size()) == 0;
}

class RelayProgramStream final : public Conversation<edge::relay::v1::ProgramsUp, edge::relay::v1::ProgramsDown> {
 public:
  explicit RelayProgramStream(RelayCall call)
      : Conversation(call.hub, call.context, call.peer, call.peer.subject.name + ":"),
        groups_(call.groups),
        granted_(std::move(call.granted)) {}

 private:
  struct Wanted {
    Hub::Membership membership;
    std::shared_ptr<const Outline> base;     ///< that the relay has; null: none that is known
    std::shared_ptr<const Outline> offered;  ///< sent last, or found to be there
  };

  Status heard(const edge::relay::v1::ProgramsUp& up) override {
    if (up.has_hello() == greeted_) return Error{ErrorCode::kInvalidArgument, "one hello, and that first"};
    if (up.has_hello()) return greet(up.hello());
    if (up.has_holdings()) return take_holdings(up.holdings());
    if (up.has_wanted()) return want(up.wanted());
    if (up.has_taken()) return taken(up.taken());
    return {};  // of a newer protocol: passed over
  }

  Status greet(const edge::relay::v1::Hello& hello) {
    if (hello.oldest_protocol() > kNewestProtocol || hello.protocol() < kOldestProtocol) {
      return Error{ErrorCode::kFailedPrecondition, "no protocol in common with the relay"};
    }
    greeted_ = welcome_due_ = true;
    protocol_ = std::min(hello.protocol(), kNewestProtocol);
    hub_.end_older(*this);
    hub_.log().info("a relay is connected", {{"cluster", peer().subject.name},
                                             {"from", peer_address(context_)},
                                             {"version", printable(hello.version(), 64)}});
    return {};
  }

  Status take_holdings(const edge::relay::v1::Holdings& holdings) {
    for (const std::string& hash : holdings.sections()) {
      if (hash.size() != sizeof(program::Hash) || held_.size() >= kMostRelayHoldings) {
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

  Status want(const edge::relay::v1::Group& group) {
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

  Status taken(const edge::relay::v1::Group& group) {
    const auto found = wanted_.find(group.group());
    if (!sent_whole_ || group.group() != sending_ || found == wanted_.end() ||
        !is_program(group.program(), found->second.offered->program)) {
      return Error{ErrorCode::kInvalidArgument, "a program taken that was not sent"};
    }
    found->second.base = found->second.offered;
    sent_whole_ = false;
    return {};
  }

  bool waits_for_answer() const override { return sent_whole_ || holdings_due_; }
  bool is_overtaken() const override { return feed_ && feed_->publication().version().version < hub_.oldest_sent(); }
  Status may_last() const override { return may_relay(groups_, peer().subject.name, granted_); }

  void advance() override {
    if (!greeted_ || !may_write()) return;
    down_.Clear();
    if (std::exchange(welcome_due_, false)) {
      down_.mutable_welcome()->set_protocol(protocol_);
      down_.mutable_welcome()->set_version(EDGE_VERSION);
      return write();
    }
    if (!refused_.empty()) {
      down_.mutable_refused()->set_group(refused_.front().first);
      down_.mutable_refused()->set_reason(refused_.front().second);
      refused_.pop_front();
      return write();
    }
    if (std::exchange(tell_holdings_due_, false)) {
      down_.set_tell_holdings(true);
      return write();
    }
    if (holdings_due_ || sent_whole_) return;
    if (!feed_) offer();
    if (feed_) send_part();
  }

  /// Takes the first group of which something else is published than the site has.
  void offer() {
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
  std::shared_ptr<const Difference> change_to(const Publication& next, const Outline* base) const {
    if (base != nullptr && held_.empty() && wanted_.size() == 1) return next.from(*base);
    std::vector<program::Hash> held = held_;
    for (const auto& [name, group] : wanted_) {
      if (!group.base) continue;
      for (const program::SectionEntry& entry : group.base->entries) held.push_back(section_hash(entry));
    }
    std::ranges::sort(held);
    return std::make_shared<const Difference>(difference(base, next.outline(), held));
  }

  void send_part() {
    down_.mutable_part()->set_group(sending_);
    feed_->next(*down_.mutable_part()->mutable_part());
    if (feed_->at_end()) {
      feed_.reset();
      sent_whole_ = true;
    }
    write();
  }

  void gone() override {
    if (greeted_) hub_.log().info("a relay is connected no longer", {{"cluster", peer().subject.name}});
  }

  const RelayedGroups& groups_;
  const std::vector<std::string> granted_;
  bool greeted_ = false;
  std::uint32_t protocol_ = 0;
  std::map<std::string, Wanted> wanted_;
  std::vector<program::Hash> held_;  ///< on the relay's disk, when it said so
  std::deque<std::pair<std::string, std::string>> refused_;
  std::string sending_;              ///< the group
  std::optional<ProgramFeed> feed_;  ///< what is left to be sent; pins its bytes
  bool welcome_due_ = false;
  bool tell_holdings_due_ = false;
  bool holdings_due_ = false;
  bool holdings_known_ = false;
  bool sent_whole_ = false;  ///< and no answer yet
};

}  // namespace

RelayProgramReactor* new_relay_programs(RelayCall call) {
  const auto stream = std::make_shared<RelayProgramStream>(std::move(call));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
