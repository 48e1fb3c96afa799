// Names that wait to be asked for at the ask-URLs of their listeners. Strangers choose the names, so each listener has
// bounds of its own below those of all, and a few that are its own beyond them: whoever asks at others takes none of
// its places. docs/certificates.md.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>

namespace edge::controller::acme {

/// As an agent reports it.
struct WantedName {
  std::string name_space;
  std::string secret;   ///< OrderedBundle::name
  std::string host;     ///< canonical, no wildcard
  bool served = false;  ///< a client was shown its certificate
};

/// For one thread.
class Questions {
 public:
  /// Names that wait; further ones are dropped, and told again by agents that are asked for them.
  static constexpr std::size_t kMostWaiting = 1024;
  static constexpr std::size_t kMostWaitingOfListener = 128;
  static constexpr std::size_t kOwnWaitingOfListener = 8;
  /// Under way at once.
  static constexpr std::size_t kMost = 4;
  static constexpr std::size_t kMostOfListener = 2;
  /// In a minute.
  static constexpr std::uint32_t kMostInMinute = 480;
  static constexpr std::uint32_t kMostInMinuteOfListener = 60;
  static constexpr std::uint32_t kOwnInMinuteOfListener = 10;

  struct Next {
    WantedName name;
    bool allowed =
        false;  ///< it may be asked for: then ended() is to be called; else the budget of the minute is used up
  };

  /// \returns false: too many wait. One that waits already waits once.
  bool add(const WantedName& name);
  /// Of the listener that has the fewest under way, and then was asked for least in this minute, the one that has
  /// waited longest; nullopt: there is none whose listener has not enough under way.
  /// \param now  seconds of a clock that may be set back
  std::optional<Next> take(std::int64_t now);
  void ended(const WantedName& name);

 private:
  using Listener = std::pair<std::string, std::string>;  ///< namespace and secret
  struct Use {
    std::size_t waiting = 0;
    std::size_t under_way = 0;
    std::uint32_t asked = 0;  ///< in this minute
  };
  std::deque<WantedName>::iterator next_one();
  bool may_ask(Use& use);
  void begin_minute(std::int64_t now);

  std::deque<WantedName> waiting_;
  std::map<Listener, Use> uses_;
  std::int64_t minute_ = 0;
  std::uint32_t asked_ = 0;  ///< in this minute
};

}  // namespace edge::controller::acme
