// What a relay has of programs, wants, and is sent next: the controller's side of `Programs` of schemas/relay.proto,
// without the stream.
//
//   ProgramsUp -> hear -> SitePrograms -> next -> ProgramsDown
//                            ^
//                            +-- Hub: what is published, and section tables of recent programs
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"
#include "controller/distribute/hub.h"
#include "controller/distribute/program_feed.h"

namespace edge::relay::v1 {
class Group;
class Hello;
class Holdings;
class ProgramsDown;
class ProgramsUp;
}  // namespace edge::relay::v1

namespace edge::controller {

/// Not thread-safe.
class SitePrograms {
 public:
  /// Sections that a relay may say it has: of several programs.
  static constexpr std::size_t kMostHoldings = std::size_t{1} << 18;

  /// `granted`: the groups that agents of the site may be in, ascending.
  SitePrograms(Hub& hub, std::vector<std::string> granted) : hub_(hub), granted_(std::move(granted)) {}

  /// An error ends the stream: the relay is not what it says.
  Status hear(const edge::relay::v1::ProgramsUp& up);
  /// Fills an empty message. \returns false: there is nothing to say now.
  bool next(edge::relay::v1::ProgramsDown& down);

  bool greeted() const { return greeted_; }
  /// Of the hello, cut.
  const std::string& version() const { return version_; }
  bool waits_for_answer() const { return sent_whole_ || holdings_due_; }
  /// Whether what is being sent is outdated, and must not be kept in memory.
  bool is_overtaken() const;

 private:
  struct Wanted {
    Hub::Membership membership;
    std::shared_ptr<const Outline> base;     ///< that the relay has; null: none that is known
    std::shared_ptr<const Outline> offered;  ///< sent last, or found to be there
  };

  Status greet(const edge::relay::v1::Hello& hello);
  Status take_holdings(const edge::relay::v1::Holdings& holdings);
  Status want(const edge::relay::v1::Group& group);
  Status taken(const edge::relay::v1::Group& group);
  void offer();
  std::shared_ptr<const Difference> change_to(const Publication& next, const Outline* base) const;

  Hub& hub_;
  const std::vector<std::string> granted_;
  bool greeted_ = false;
  std::string version_;
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

}  // namespace edge::controller
