#include <utility>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/caller.h"
#include "controller/distribute/protocol.h"
#include "controller/distribute/streams/address_message.h"
#include "controller/distribute/streams/conversation.h"
#include "controller/distribute/streams/streams.h"
#include "schemas/agent.pb.h"

namespace edge::controller {
namespace {

using agent::v1::AddressesDown;
using agent::v1::AddressesUp;

constexpr std::size_t kMaxAddress = 64;

/// Where the others reach it: an agent that hears at all of its addresses says only the port, and is reached at the
/// address that it has come from. Empty: it hears nowhere.
std::string reached_at(const std::string& said, const std::string& peer) {
  if (!said.starts_with(':') || said.size() > kMaxAddress) return printable(said, kMaxAddress);
  std::string host = peer.substr(0, peer.rfind(':'));
  for (const auto& [code, text] : {std::pair("%5B", "["), std::pair("%5D", "]")}) {
    if (const std::size_t at = host.find(code); at != std::string::npos) host.replace(at, 3, text);
  }
  return host + said;
}

class AddressStream final : public Conversation<AddressesUp, AddressesDown> {
 public:
  using Conversation::Conversation;

 private:
  Status heard(const AddressesUp& up) override {
    if (up.has_hello() && greeted_) return Error{ErrorCode::kInvalidArgument, "two hellos"};
    if (!up.has_hello()) {
      return greeted_ ? Status() : Status(Error{ErrorCode::kInvalidArgument, "the first word is a hello"});
    }
    const auto greeting = read_greeting(up.hello());
    if (!greeting) return greeting.error();
    greeted_ = true;
    own_labels_ = greeting->state.labels;
    node_ = greeting->state.node;
    hub_.note_member(name(), reached_at(up.hello().peer_address(), peer_address(context_)));
    return {};
  }

  bool waits_for_answer() const override { return false; }

  void advance() override {
    if (!greeted_ || !may_write()) return;
    if (hub_.address_versions() == std::pair(sent_, sent_labels_)) return;
    const CurrentAddresses current = hub_.current_addresses();
    if (current.set == nullptr) return;
    Labels of_node = hub_.node_labels(node_);
    sent_labels_ = current.labels_version;
    if (current.version == sent_ && of_node == node_labels_) return;
    sent_ = current.version;
    node_labels_ = std::move(of_node);
    down_.Clear();
    write_addresses(current, own_labels_, node_labels_, down_);
    write();
  }

  void gone() override {}

  bool greeted_ = false;
  Labels own_labels_;   ///< of the agent
  std::string node_;    ///< that it runs on
  Labels node_labels_;  ///< as they were sent last
  std::uint64_t sent_ = 0;
  std::uint64_t sent_labels_ = 0;
};

}  // namespace

AddressReactor* new_address_stream(Hub& hub, grpc::CallbackServerContext& context, CertificateFacts peer) {
  const auto stream = std::make_shared<AddressStream>(hub, context, std::move(peer));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
