// What keeps names on demand of one listener from certificates though their clients did nothing wrong, for people: in
// an annotation of the listener's Secret of names, and as events of its gateway. Strangers bring some of it about, so
// it is a few words without their names, and how often it changes is bounded here.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace edge::controller::acme {

/// Without I/O. For one thread.
class NameFaults {
 public:
  enum class Kind : std::uint8_t {
    kUnanswered,  ///< the ask-URL gave no answer
    kFull,        ///< the list has maxNames
    kBusy,        ///< more names were to be asked for than may be
  };
  /// A fault is over when it was not met for so long, in seconds.
  static constexpr std::int64_t kHolds = 600;

  /// \param now  seconds since 1970, likewise below
  void meet(Kind kind, std::int64_t now) { met_[static_cast<std::size_t>(kind)] = now; }
  /// What it was met by works now.
  void end(Kind kind) { met_[static_cast<std::size_t>(kind)] = 0; }
  /// One line; empty: there is none.
  std::string text(std::int64_t now) const;

 private:
  std::array<std::int64_t, 3> met_{};  ///< by Kind: when it was met last; 0: never
};

/// A fault as one controller has written it, of several that see their own agents' clients.
struct KeptFault {
  std::string by{};     ///< identity of the controller
  std::string text{};   ///< empty: none is kept
  std::int64_t at = 0;  ///< when it was written or repeated
  friend bool operator==(const KeptFault&, const KeptFault&) = default;
};
std::string write_fault(const KeptFault& fault);
/// None where it cannot be read.
KeptFault read_fault(std::string_view json);

/// What is to be kept, where `own` (empty: none) is what the controller `by` sees. Another controller's is left to it,
/// while it repeats it; so that two that see different things do not write in turns.
KeptFault next_fault(const KeptFault& kept, std::string_view by, std::string_view own, std::int64_t now);

}  // namespace edge::controller::acme
