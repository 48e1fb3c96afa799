// What the three streams of a relay have in common: they are counted as the relay's, and end when its site may not have
// what it was granted any more.
//
// Included only by the files of the streams, after gRPC's header.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "controller/distribute/relay/streams.h"
#include "controller/distribute/streams/conversation.h"

namespace edge::controller {

template <typename Up, typename Down>
class RelayStream : public Conversation<Up, Down> {
 public:
  explicit RelayStream(RelayCall call)
      : Conversation<Up, Down>(call.hub, call.context, call.peer, call.peer.subject.name + ":"),
        groups_(call.groups),
        granted_(std::move(call.granted)) {}

 protected:
  const std::string& cluster() const { return this->peer().subject.name; }
  /// Groups that agents of the site may be in, ascending.
  const std::vector<std::string>& granted() const { return granted_; }

 private:
  Status may_last() const final { return may_relay(groups_, cluster(), granted_); }

  const RelayedGroups& groups_;
  const std::vector<std::string> granted_;
};

}  // namespace edge::controller
