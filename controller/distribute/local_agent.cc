#include "controller/distribute/local_agent.h"

#include <mutex>
#include <optional>
#include <utility>

#include "controller/distribute/hub.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/address_message.h"
#include "controller/distribute/streams/link_message.h"
#include "controller/distribute/streams/report_message.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMaxReason = 1024;

/// No certificate is shown, so none ends.
CertificateFacts facts_of(std::string name) {
  CertificateFacts facts;
  facts.subject = {Role::kAgent, std::move(name)};
  facts.validity = {WallTime::min(), WallTime::max()};
  return facts;
}

}  // namespace

class LocalAgent::Membership final : public Stream, public Respondent, public std::enable_shared_from_this<Membership> {
 public:
  Membership(Hub& hub, std::string name, LocalAgentEvents events)
      : Stream(facts_of(std::move(name))), hub_(hub), events_(std::move(events)) {}

  Status enter(const std::string& message) {
    agent::v1::Hello hello;
    if (!hello.ParseFromString(message)) return Error{ErrorCode::kInvalidArgument, "no hello"};
    auto greeting = read_greeting(hello);
    if (!greeting) return greeting.error();
    auto entered = hub_.enter_group(greeting->state);
    if (!entered) return entered.error();
    AgentState state = std::move(greeting->state);
    state.name = name();
    state.group = entered->group;
    state.program = hex_of(hello.program());
    {
      const std::lock_guard lock(mutex_);
      membership_ = *std::move(entered);
      instance_ = greeting->instance;
      running_ = hello.program();
      labels_ = state.labels;
      node_ = state.node;
    }
    if (!hub_.add(shared_from_this())) {
      return Error{ErrorCode::kResourceExhausted, "too many agents, or sessions of this one"};
    }
    if (!hub_.registry().connected(std::move(state), instance_, order(), hub_.now())) {
      hub_.remove(*this);
      return Error{ErrorCode::kResourceExhausted, "too many agents"};
    }
    hub_.note_member(name(), hello.peer_address());
    hub_.questions().come(name(), shared_from_this());
    hub_.log().debug("an agent of this process is connected", {{"agent", name()}});
    hub_.changed();
    wake();
    return {};
  }

  void leave() {
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
    }
    hub_.questions().gone(name(), *this);
    hub_.remove(*this);
    if (hub_.registry().lost(name(), order(), hub_.now())) hub_.changed();
  }

  void wake() override {
    const std::lock_guard lock(mutex_);
    if (over_) return;
    if (hub_.is_moved(membership_)) {
      return finish({ErrorCode::kUnavailable, "the label of the agent's node is another: so is its group"});
    }
    const Hub::Current current = hub_.current(membership_.group);
    if (current.program != nullptr && current.values->are_for(!running_.empty())) give(current);
    give_links();
    if (hub_.address_versions() == addresses_) return;
    const CurrentAddresses addresses = hub_.current_addresses();
    if (addresses.set == nullptr) return;
    addresses_ = {addresses.version, addresses.labels_version};
    agent::v1::AddressesDown down;
    write_addresses(addresses, labels_, hub_.node_labels(node_), down);
    events_.addresses(down.SerializeAsString());
  }

  void end(const Error& why) override {
    const std::lock_guard lock(mutex_);
    if (!over_) finish(why);
  }

  void ask(const AgentQuestion& question, TakeAnswer take) override { take(events_.answer(question)); }
  std::uint64_t since() const override { return order(); }

  void applied(const std::string& message) {
    agent::v1::Applied applied;
    if (!applied.ParseFromString(message)) return;
    hub_.registry().applied(name(), instance_, hex_of(applied.program()), read_unbound_list(applied.unbound()),
                            hub_.now());
    hub_.changed();
  }

  void refused(const program::Hash& program, const std::string& reason) {
    hub_.registry().refused(name(), instance_, program::to_hex(program), printable(reason, kMaxReason), hub_.now());
    hub_.log().error("an agent refuses the program", {{"agent", name()}, {"reason", printable(reason, kMaxReason)}});
    hub_.changed();
  }

  void values_applied(std::uint64_t version) {
    if (hub_.registry().values_applied(name(), instance_, version, hub_.now())) hub_.changed();
  }

  void report(const std::string& message) {
    agent::v1::Report report;
    if (!report.ParseFromString(message)) return;
    AgentRegistry::Report read = read_report(report);
    const std::string group = [this] {
      const std::lock_guard lock(mutex_);
      return membership_.group;
    }();
    hub_.want(std::move(read.wanted), {&group, 1});
    if (hub_.registry().reported(name(), instance_, std::move(read), hub_.now())) hub_.changed();
  }

  void report_links(const std::string& message) {
    agent::v1::LinksReport report;
    if (!report.ParseFromString(message)) return;
    const std::string site = [this] {
      const std::lock_guard lock(mutex_);
      return site_;
    }();
    if (hub_.registry().links_reported(name(), instance_, site, read_links_report(report), hub_.now())) hub_.changed();
  }

 private:
  /// Under the lock, as all that follow. Values first: a program never waits for them.
  void give(const Hub::Current& current) {
    const program::Hash& program = current.program->outline().program;
    if (current.values != values_) {
      values_ = current.values;
      events_.values(values_->set, values_->version, program);
    }
    if (offered_ && *offered_ == program) return;
    const bool runs = !offered_ && hex_of(running_) == program::to_hex(program);
    offered_ = program;
    if (!runs) events_.program(current.program->bytes(), program, current.program->version().values);
  }

  void give_links() {
    const std::pair versions = hub_.link_versions();
    if (versions == links_) return;
    const CurrentLinks current = hub_.current_links();
    if (current.sites == nullptr) return;
    links_ = versions;
    const SiteLinks* const site = site_of_agent(*current.sites, labels_, hub_.node_labels(node_));
    std::string message = site == nullptr ? std::string() : site->message;
    if (given_links_ && *given_links_ == message) return;
    given_links_ = std::move(message);
    site_ = site == nullptr ? std::string() : site->site;
    agent::v1::LinksDown down;
    write_links(site, current.version, down);
    events_.links(down.SerializeAsString());
  }

  void finish(const Error& why) {
    over_ = true;
    events_.ended(why);
  }

  Hub& hub_;
  const LocalAgentEvents events_;
  std::mutex mutex_;  ///< guards what follows, but for what `enter` sets before anybody knows of it
  Hub::Membership membership_;
  std::string instance_;
  std::string running_;  ///< hash, when it came
  Labels labels_;
  std::string node_;
  std::optional<program::Hash> offered_;  ///< given last, or found to be what runs
  std::shared_ptr<const Values> values_;  ///< given last
  std::pair<std::uint64_t, std::uint64_t>
      addresses_;                                  ///< versions that were given last, of addresses and Nodes' labels
  std::pair<std::uint64_t, std::uint64_t> links_;  ///< versions of the SD-WAN and of Nodes' labels, likewise
  std::optional<std::string> given_links_;         ///< likewise, without its version
  std::string site_;
  bool over_ = false;
};

LocalAgent::LocalAgent(std::shared_ptr<Membership> membership) : membership_(std::move(membership)) {}
LocalAgent::~LocalAgent() { membership_->leave(); }

Result<std::unique_ptr<LocalAgent>> LocalAgent::start(Hub& hub, std::string name, const std::string& hello,
                                                      LocalAgentEvents events) {
  hub.authority().reserve(name);
  auto membership = std::make_shared<Membership>(hub, std::move(name), std::move(events));
  if (Status status = membership->enter(hello); !status) return status.error();
  return std::unique_ptr<LocalAgent>(new LocalAgent(std::move(membership)));
}

void LocalAgent::applied(const std::string& message) { membership_->applied(message); }
void LocalAgent::refused(const program::Hash& program, const std::string& reason) {
  membership_->refused(program, reason);
}
void LocalAgent::values_applied(std::uint64_t version) { membership_->values_applied(version); }
void LocalAgent::report(const std::string& message) { membership_->report(message); }
void LocalAgent::report_links(const std::string& message) { membership_->report_links(message); }

}  // namespace edge::controller
