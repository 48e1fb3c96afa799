// Splits endpoints and secrets into messages for one agent: the difference to what it was sent before.
#pragma once

#include <cstddef>
#include <memory>

#include "controller/distribute/publication.h"

namespace edge::agent::v1 {
class ValuesPart;
}

namespace edge::controller {

class ValuesFeed {
 public:
  static constexpr std::size_t kPartBytes = 256 << 10;
  /// Limit of a secret's value, which is sent in one message; agents accept messages of at most twice this.
  static constexpr std::size_t kMaxValueBytes = 8 << 20;

  /// `before` null: all of `after`. `program`: the one for which `after` is complete.
  ValuesFeed(std::shared_ptr<const Values> before, std::shared_ptr<const Values> after, const program::Hash& program);

  bool at_end() const { return ended_; }
  /// Writes the next message into an empty `part`. A backend or secret that is too large for one message is continued
  /// in the next under the same name.
  void next(agent::v1::ValuesPart& part);
  const std::shared_ptr<const Values>& after() const { return after_; }

 private:
  void add_backends(agent::v1::ValuesPart& part, std::size_t& room);
  void add_secrets(agent::v1::ValuesPart& part, std::size_t& room);

  std::shared_ptr<const Values> before_;
  std::shared_ptr<const Values> after_;
  program::Hash program_;
  std::size_t old_backend_ = 0;
  std::size_t backend_ = 0;
  std::size_t endpoint_ = 0;  ///< of the backend being sent
  std::size_t old_secret_ = 0;
  std::size_t secret_ = 0;
  std::size_t value_ = 0;
  bool begun_ = false;
  bool ended_ = false;
};

}  // namespace edge::controller
