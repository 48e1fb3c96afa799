#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/link_message.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::LinksDown;
using agent::v1::LinksUp;

class LinkStream final : public Conversation<LinksUp, LinksDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const LinksUp& up) override {
    if (up.has_hello() == greeted_) return Error{ErrorCode::kInvalidArgument, "one hello, as the first word"};
    if (up.has_hello()) {
      const auto greeting = read_greeting(up.hello());
      if (!greeting) return greeting.error();
      greeted_ = true;
      instance_ = greeting->instance;
      own_labels_ = greeting->state.labels;
      node_ = greeting->state.node;
      return {};
    }
    if (!up.has_report()) return {};
    if (hub_.registry().links_reported(name(), instance_, site_, read_links_report(up.report()), hub_.now())) {
      hub_.changed();
    }
    return {};
  }

  bool waits_for_answer() const override { return false; }

  void advance() override {
    if (!greeted_ || !may_write()) return;
    const std::pair versions = hub_.link_versions();
    if (versions == seen_) return;
    const CurrentLinks current = hub_.current_links();
    if (current.sites == nullptr) return;
    seen_ = versions;
    const SiteLinks* const site = site_of_agent(*current.sites, own_labels_, hub_.node_labels(node_));
    std::string message = site == nullptr ? std::string() : site->message;
    if (sent_ && *sent_ == message) return;
    sent_ = std::move(message);
    site_ = site == nullptr ? std::string() : site->site;
    down_.Clear();
    write_links(site, current.version, down_);
    write();
  }

  void gone() override {}

  bool greeted_ = false;
  std::string instance_;
  Labels own_labels_;  ///< of the agent
  std::string node_;   ///< that it runs on
  std::string site_;   ///< whose assignment was sent last
  std::optional<std::string> sent_;
  std::pair<std::uint64_t, std::uint64_t> seen_;  ///< of assignments and of labels of Nodes
};

}  // namespace

LinkReactor* new_link_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<LinkStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
