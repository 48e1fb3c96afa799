// The agents behind a relay: how they are, as the registry takes it, and questions to them.
#include <algorithm>
#include <deque>
#include <map>

#include <grpcpp/grpcpp.h>

#include "base/resource_id.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/relay/agent_message.h"
#include "controller/distribute/relay/relay_stream.h"
#include "controller/distribute/streams/report_message.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

constexpr std::size_t kMostAgentsOfSite = 1000;
constexpr std::size_t kMostQuestionsOfSite = 64;
constexpr std::size_t kMaxText = 253;
constexpr std::size_t kMaxReasonText = 1024;
/// Changes of agents a second, and at once: a relay gathers, and says of each agent at most one a second.
constexpr double kChangesASecond = 2000;
constexpr double kMostChangesAtOnce = 10'000;

class RelayAgentStream final : public RelayStream<edge::relay::v1::AgentsUp, edge::relay::v1::AgentsDown>,
                               public std::enable_shared_from_this<RelayAgentStream> {
 public:
  using RelayStream::RelayStream;

  void ask(const std::string& agent, const AgentQuestion& question, TakeAnswer take) {
    {
      const std::lock_guard lock(mutex_);
      if (!over_ && open_.size() < kMostQuestionsOfSite) {
        const std::uint64_t number = ++last_;
        open_[number].take = std::move(take);
        to_send_.push_back({number, agent, question});
        return advance();
      }
    }
    take(Error{ErrorCode::kResourceExhausted, "the agents of the site are asked too much at once"});
  }

 private:
  /// One agent, as those who ask know it.
  class RelayedAgent final : public Respondent {
   public:
    RelayedAgent(std::weak_ptr<RelayAgentStream> stream, std::string name, std::uint64_t since)
        : stream_(std::move(stream)), name_(std::move(name)), since_(since) {}
    void ask(const AgentQuestion& question, TakeAnswer take) override {
      if (const auto stream = stream_.lock()) return stream->ask(name_, question, std::move(take));
      take(Error{ErrorCode::kUnavailable, "the relay of the agent went away"});
    }
    std::uint64_t since() const override { return since_; }

   private:
    const std::weak_ptr<RelayAgentStream> stream_;
    const std::string name_;
    const std::uint64_t since_;
  };
  struct Open {
    TakeAnswer take;
    AgentAnswer answer{};
    bool too_long = false;
  };
  struct Question {
    std::uint64_t number;
    std::string agent;
    AgentQuestion question;
  };

  Status heard(const edge::relay::v1::AgentsUp& up) override {
    if (up.has_answer()) {
      if (Status status = take_answer(up.answer()); !status) return status;
    }
    if (up.wanted_size() > 0) take_wanted(up);
    if (up.agents_size() == 0) return {};
    const auto now = std::chrono::steady_clock::now();
    changes_ =
        std::min(kMostChangesAtOnce, changes_ + std::chrono::duration<double>(now - filled_).count() * kChangesASecond);
    filled_ = now;
    changes_ -= static_cast<double>(up.agents_size());
    if (changes_ < 0) return Error{ErrorCode::kResourceExhausted, "the relay says too much of its agents"};
    for (const auto& change : up.agents()) {
      if (Status status = take_change(change); !status) return status;
    }
    hub_.changed();
    return {};
  }

  void take_wanted(const edge::relay::v1::AgentsUp& up) {
    std::vector<WantedName> wanted = read_wanted(up.wanted());
    wanted_.cut(wanted, std::chrono::steady_clock::now());
    hub_.want(std::move(wanted), granted());
  }

  Status take_change(const edge::relay::v1::AgentChange& change) {
    const std::string& name = change.state().name();
    if (!is_subject_name(name) || !split_cluster(name).cluster.empty()) {
      return Error{ErrorCode::kInvalidArgument, "an agent of the site has no name"};
    }
    AgentRegistry::Relayed read = read_agent_change(change, cluster());
    const std::string full = read.state.name;
    const auto known = agents_.find(name);
    if (read.state.connected && known == agents_.end()) {
      if (agents_.size() >= kMostAgentsOfSite) {
        return Error{ErrorCode::kResourceExhausted, "the site has more than 1,000 agents"};
      }
      const auto agent = std::make_shared<RelayedAgent>(weak_from_this(), name, order());
      agents_.emplace(name, agent);
      hub_.questions().come(full, agent);
    } else if (!read.state.connected && known != agents_.end()) {
      hub_.questions().gone(full, *known->second);
      agents_.erase(known);
    }
    if (!hub_.registry().relayed(std::move(read), order(), hub_.now())) {
      hub_.log_refusal(full, "there are too many agents of other sites: it is not shown");
    }
    return {};
  }

  Status take_answer(const edge::relay::v1::Answer& answer) {
    const agent::v1::AnswerPart& part = answer.part();
    const auto found = open_.find(part.question());
    if (found == open_.end()) return Error{ErrorCode::kInvalidArgument, "an answer to no question"};
    Open& open = found->second;
    if (part.status() != 0) open.answer.status = static_cast<int>(part.status() % 1000);
    if (!part.content_type().empty()) open.answer.content_type = printable(part.content_type(), kMaxText);
    open.too_long = open.too_long || open.answer.body.size() + part.bytes().size() > Questions::kMostBytes;
    if (!open.too_long) open.answer.body += part.bytes();
    if (!part.last()) return {};
    Open done = std::move(open);
    open_.erase(found);
    if (!answer.error().empty()) {
      done.take(Error{ErrorCode::kUnavailable, printable(answer.error(), kMaxReasonText)});
    } else if (done.too_long) {
      done.take(Error{ErrorCode::kResourceExhausted, "the agent's answer is too long"});
    } else {
      done.take(std::move(done.answer));
    }
    return {};
  }

  bool waits_for_answer() const override { return !open_.empty(); }

  void advance() override {
    if (to_send_.empty() || !may_write()) return;
    const Question& next = to_send_.front();
    down_.Clear();
    down_.set_agent(next.agent);
    down_.mutable_question()->set_question(next.number);
    down_.mutable_question()->set_method(next.question.method);
    down_.mutable_question()->set_target(next.question.target);
    to_send_.pop_front();
    write();
  }

  void gone() override {
    std::map<std::uint64_t, Open> left;
    std::map<std::string, std::shared_ptr<RelayedAgent>> agents;
    {
      const std::lock_guard lock(mutex_);
      over_ = true;
      left.swap(open_);
      agents.swap(agents_);
    }
    for (auto& [number, open] : left) open.take(Error{ErrorCode::kUnavailable, "the relay of the agent went away"});
    for (const auto& [name, agent] : agents) {
      const std::string full = with_cluster(cluster(), name);
      hub_.questions().gone(full, *agent);
      hub_.registry().lost(full, order(), hub_.now());
    }
    if (!agents.empty()) hub_.changed();
  }

  std::map<std::string, std::shared_ptr<RelayedAgent>> agents_;  ///< that are connected
  bool over_ = false;
  std::uint64_t last_ = 0;
  std::map<std::uint64_t, Open> open_;
  std::deque<Question> to_send_;
  WantedRate wanted_{WantedRate::kOfRelay};
  double changes_ = kMostChangesAtOnce;
  std::chrono::steady_clock::time_point filled_ = std::chrono::steady_clock::now();
};

}  // namespace

RelayAgentReactor* new_relay_agents(RelayCall call) {
  const auto stream = std::make_shared<RelayAgentStream>(std::move(call));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
