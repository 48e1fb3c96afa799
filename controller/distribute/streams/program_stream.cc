#include <algorithm>
#include <cstring>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/program_feed.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "program/cpu.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::Hello;
using agent::v1::ProgramsDown;
using agent::v1::ProgramsUp;

constexpr std::size_t kMaxRefusalText = 1024;

bool is_hash(const std::string& bytes, const program::Hash& hash) {
  return bytes.size() == hash.size() && std::memcmp(bytes.data(), hash.data(), hash.size()) == 0;
}

class ProgramStream final : public Conversation<ProgramsUp, ProgramsDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const ProgramsUp& up) override {
    if (up.has_hello() != instance_.empty()) return Error{ErrorCode::kInvalidArgument, "one hello, and that first"};
    if (up.has_hello()) return greet(up.hello());
    if (up.has_holdings()) return take_holdings(up.holdings());
    if (up.has_applied()) return applied(up.applied().program(), read_unbound_list(up.applied().unbound()));
    if (up.has_refused()) return refused(up.refused().program(), printable(up.refused().reason(), kMaxRefusalText));
    if (up.has_leaving()) {
      left_ = true;
      finish({});
    }
    return {};  // of a newer protocol: passed over
  }

  Status greet(const Hello& hello) {
    auto greeting = read_greeting(hello);
    if (!greeting) return greeting.error();
    auto entered = hub_.enter_group(greeting->state);
    if (!entered) return entered.error();
    membership_ = *std::move(entered);
    greeting->state.group = membership_.group;
    instance_ = greeting->instance;
    cpu_ = greeting->cpu;
    format_version_ = hello.format_version();
    running_ = hello.program();
    base_ = hub_.outline(running_);
    AgentState state = std::move(greeting->state);
    state.name = name();
    state.program = hex_of(running_);
    state.certificate_until = peer().validity.until;
    if (!hub_.registry().connected(std::move(state), instance_, order(), hub_.now())) {
      return Error{ErrorCode::kResourceExhausted, "too many agents"};
    }
    hub_.log().debug("an agent is connected", {{"agent", name()}, {"from", peer_address(context_)}});
    hub_.changed();
    hub_.end_older(*this);
    welcome_due_ = true;
    protocol_ = greeting->protocol;
    holdings_due_ = !running_.empty() && base_ == nullptr;
    return {};
  }

  Status take_holdings(const agent::v1::Holdings& holdings) {
    if (!holdings_due_) return Error{ErrorCode::kInvalidArgument, "holdings that nobody asked for"};
    for (const std::string& hash : holdings.sections()) {
      if (hash.size() != sizeof(program::Hash) || held_.size() >= program::kMaxSections) {
        return Error{ErrorCode::kInvalidArgument, "holdings that are none"};
      }
      std::memcpy(held_.emplace_back().data(), hash.data(), hash.size());
    }
    if (!holdings.last()) return {};
    std::ranges::sort(held_);
    holdings_due_ = false;
    return {};
  }

  Status applied(const std::string& program, std::vector<UnboundListener> unbound) {
    if (!awaited(program)) return Error{ErrorCode::kInvalidArgument, "a program applied that was not sent"};
    running_ = program;
    base_ = offered_;
    held_.clear();
    sent_whole_ = false;
    hub_.registry().applied(name(), instance_, hex_of(program), std::move(unbound), hub_.now());
    hub_.changed();
    return {};
  }

  Status refused(const std::string& program, const std::string& reason) {
    if (!awaited(program)) return Error{ErrorCode::kInvalidArgument, "a program refused that was not sent"};
    sent_whole_ = false;
    tell_refused(reason);
    return {};
  }

  void tell_refused(const std::string& reason) {
    hub_.registry().refused(name(), instance_, program::to_hex(offered_->program), reason, hub_.now());
    hub_.log().error("an agent refuses the program", {{"agent", name()}, {"reason", reason}});
    hub_.changed();
  }

  bool awaited(const std::string& program) const { return sent_whole_ && is_hash(program, offered_->program); }

  bool waits_for_answer() const override { return sent_whole_ || holdings_due_; }

  bool is_moved() const override { return !instance_.empty() && hub_.is_moved(membership_); }

  bool is_overtaken() const override { return feed_ && feed_->publication().version().version < hub_.oldest_sent(); }

  void advance() override {
    if (instance_.empty() || !may_write()) return;
    down_.Clear();
    if (welcome_due_) {
      welcome_due_ = false;
      auto& welcome = *down_.mutable_welcome();
      welcome.set_protocol(protocol_);
      welcome.set_tell_holdings(holdings_due_);
      welcome.set_version(EDGE_VERSION);
      return write();
    }
    if (const std::string roots = hub_.authority().roots(); roots != trusted_) {
      trusted_ = roots;
      down_.mutable_trust()->set_authorities(roots);
      down_.mutable_trust()->set_program_key(hub_.program_key());
      return write();
    }
    if (holdings_due_ || sent_whole_) return;
    if (!feed_) offer();
    if (feed_) send_part();
  }

  /// Takes what is published now, if it is another than before.
  void offer() {
    const Hub::Current current = hub_.current(membership_.group);
    const auto& next = current.program;
    if (next == nullptr || !current.values->are_for(!running_.empty()) || is_moved() ||
        (offered_ && next->outline().program == offered_->program))
      return;
    offered_ = next->shared_outline();
    const Outline& outline = *offered_;
    if (is_hash(running_, outline.program)) {
      base_ = offered_;
      return;
    }
    if (!program::runs_on(outline.header.target, cpu_)) {
      return tell_refused("it is made for " + std::string(program::to_string(outline.header.target)) +
                          ", and the agent runs on " + std::string(program::to_string(cpu_)));
    }
    if (format_version_ != outline.header.format_version) {
      return tell_refused("it has format " + std::to_string(outline.header.format_version) +
                          ", and the agent reads format " + std::to_string(format_version_));
    }
    auto change = base_ ? next->from(*base_) : std::make_shared<const Difference>(difference(nullptr, outline, held_));
    feed_.emplace(next, base_, std::move(change));
  }

  void send_part() {
    feed_->next(*down_.mutable_part());
    if (feed_->at_end()) {
      feed_.reset();
      sent_whole_ = true;
    }
    write();
  }

  void gone() override {
    if (instance_.empty() || !hub_.registry().lost(name(), order(), hub_.now())) return;
    // Of a controller that ends every stream does.
    const bool on_purpose = left_ || hub_.ending();
    hub_.log().write(on_purpose ? LogLevel::kInfo : LogLevel::kWarn,
                     on_purpose ? "an agent has left" : "an agent is gone", {{"agent", name()}});
    hub_.changed();
  }

  std::string instance_;  ///< empty before the hello
  Hub::Membership membership_;
  std::uint32_t protocol_ = 0;
  program::Target cpu_ = program::Target::kTablesOnly;
  std::uint32_t format_version_ = 0;
  std::string running_;                     ///< hash, as it came
  std::shared_ptr<const Outline> base_;     ///< of what runs; null: not known
  std::vector<program::Hash> held_;         ///< where `base_` is not known
  std::shared_ptr<const Outline> offered_;  ///< sent last, or found to be what runs
  std::optional<ProgramFeed> feed_;         ///< what is left to be sent of it; pins its bytes
  std::string trusted_;                     ///< authorities that it was told
  bool welcome_due_ = false;
  bool holdings_due_ = false;
  bool left_ = false;        ///< it said so
  bool sent_whole_ = false;  ///< and no answer yet
};

}  // namespace

ProgramReactor* new_program_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<ProgramStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
