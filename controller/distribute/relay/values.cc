// Endpoints, certificates and secrets on their way to a relay: once a group that its agents are in.
#include <algorithm>
#include <map>

#include <grpcpp/grpcpp.h>

#include "controller/distribute/relay/relay_stream.h"
#include "controller/distribute/values_feed.h"
#include "schemas/relay.pb.h"

namespace edge::controller {
namespace {

class RelayValueStream final : public RelayStream<edge::relay::v1::ValuesUp, edge::relay::v1::ValuesDown> {
 public:
  using RelayStream::RelayStream;

 private:
  struct Wanted {
    Hub::Membership membership;
    std::shared_ptr<const Values> sent;  ///< null: nothing
  };

  Status heard(const edge::relay::v1::ValuesUp& up) override {
    if (wanted_.contains(up.wanted()) || wanted_.size() >= Hub::kMaxGroups) {
      return Error{ErrorCode::kInvalidArgument, "a group that is wanted twice, or one too many"};
    }
    // The stream of programs says why.
    if (!std::ranges::binary_search(granted(), up.wanted())) return {};
    auto entered = hub_.enter_group(up.wanted());
    if (!entered) return entered.error();
    wanted_.emplace(up.wanted(), Wanted{std::move(*entered), nullptr});
    return {};
  }

  bool waits_for_answer() const override { return false; }
  bool is_overtaken() const override {
    const std::uint64_t oldest = hub_.oldest_sent();
    if (!feed_) return false;
    const auto& sent = wanted_.at(sending_).sent;
    return feed_->after()->version < oldest || (sent && sent->version < oldest);
  }

  void advance() override {
    if (!may_write()) return;
    if (!feed_) begin();
    if (!feed_) return;
    down_.Clear();
    down_.set_group(sending_);
    feed_->next(*down_.mutable_part());
    if (feed_->at_end()) {
      wanted_.at(sending_).sent = feed_->after();
      feed_.reset();
    }
    write();
  }

  void begin() {
    for (auto& [name, group] : wanted_) {
      const Hub::Current current = hub_.current(group.membership.group);
      if (current.values == nullptr || current.values == group.sent || current.values->lacks_secrets) continue;
      sending_ = name;
      feed_.emplace(group.sent, current.values, current.program->outline().program);
      return;
    }
  }

  void gone() override {}

  std::map<std::string, Wanted> wanted_;
  std::string sending_;  ///< the group
  std::optional<ValuesFeed> feed_;
};

}  // namespace

RelayValueReactor* new_relay_values(RelayCall call) {
  const auto stream = std::make_shared<RelayValueStream>(std::move(call));
  stream->start(stream);
  return stream.get();
}

}  // namespace edge::controller
