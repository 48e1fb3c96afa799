#include "compiler/analyze/space/text_search.h"

#include <algorithm>
#include <deque>
#include <string_view>
#include <unordered_map>

#include "base/hash.h"

namespace edge::compiler::analyze {
namespace {

using Byte = unsigned char;
using States = std::vector<Automaton::State>;

struct StatesHash {
  std::size_t operator()(const States& states) const {
    return hash_bytes(states.size(),
                      {reinterpret_cast<const char*>(states.data()), states.size() * sizeof(Automaton::State)});
  }
};

/// One byte of each class that the automata tell apart, the likeliest in a sensible text first.
std::vector<Byte> representatives(const std::vector<TextGoal>& goals) {
  static constexpr std::string_view kLikely = "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_/.~";
  Automaton::Borders borders;
  for (const TextGoal& goal : goals) goal.set->add_borders(borders);
  const auto rank = [](Byte byte) -> std::size_t {
    const std::size_t at = kLikely.find(static_cast<char>(byte));
    if (at != std::string_view::npos) return at;
    // Then printable ones, then the rest.
    return (byte > 0x20 && byte < 0x7f ? 0x100U : 0x200U) + byte;
  };
  std::vector<Byte> chosen;
  for (unsigned first = 0; first < 256;) {
    unsigned end = first + 1;
    auto best = static_cast<Byte>(first);
    for (; end < 256 && !borders[end]; ++end) {
      if (rank(static_cast<Byte>(end)) < rank(best)) best = static_cast<Byte>(end);
    }
    chosen.push_back(best);
    first = end;
  }
  std::ranges::sort(chosen, {}, rank);
  return chosen;
}

class TextWalk {
 public:
  TextWalk(const std::vector<TextGoal>& goals, Effort& effort)
      : goals_(goals), effort_(effort), bytes_(representatives(goals)) {}

  TextFound run(std::string& text) {
    States first;
    for (const TextGoal& goal : goals_) first.push_back(goal.set->start(effort_));
    visit(std::move(first), kNoParent, 0);
    for (std::uint32_t at = 0; at < visits_.size(); ++at) {
      // The map does not move its keys, so this stays while states are added.
      const States& here = *visits_[at].states;
      const bool ends = accepted(here);
      if (effort_.exhausted()) return TextFound::kNotDecided;
      if (ends) return text = text_of(at), TextFound::kText;
      if (visits_[at].length == kMaxText) return TextFound::kNotDecided;
      for (const Byte byte : bytes_) {
        follow(here, at, byte);
        if (effort_.exhausted()) return TextFound::kNotDecided;
      }
    }
    return TextFound::kNone;
  }

 private:
  static constexpr std::uint32_t kNoParent = 0xffffffff;
  struct Visit {
    const States* states;
    std::uint32_t parent;
    std::uint32_t length;
    Byte byte;
  };

  void follow(const States& here, std::uint32_t at, Byte byte) {
    next_.clear();
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      const Automaton::State state = goals_[i].set->step(here[i], byte, effort_);
      if (state == (goals_[i].inside ? Automaton::kDead : Automaton::kFull)) return;
      next_.push_back(state);
    }
    visit(next_, at, byte);
  }

  void visit(States states, std::uint32_t parent, Byte byte) {
    effort_.spend(1 + states.size());
    const auto [known, fresh] = seen_.try_emplace(std::move(states));
    if (!fresh) return;
    const std::uint32_t length = parent == kNoParent ? 0 : visits_[parent].length + 1;
    visits_.push_back({&known->first, parent, length, byte});
  }

  bool accepted(const States& states) {
    for (std::size_t i = 0; i < goals_.size(); ++i) {
      if (goals_[i].set->accepts(states[i], effort_) != goals_[i].inside) return false;
    }
    return true;
  }

  std::string text_of(std::uint32_t at) const {
    std::string text;
    for (; visits_[at].parent != kNoParent; at = visits_[at].parent) text += static_cast<char>(visits_[at].byte);
    std::ranges::reverse(text);
    return text;
  }

  struct Nothing {};
  const std::vector<TextGoal>& goals_;
  Effort& effort_;
  std::vector<Byte> bytes_;
  std::unordered_map<States, Nothing, StatesHash> seen_;
  std::vector<Visit> visits_;
  States next_;
};

}  // namespace

TextFound search_text(const std::vector<TextGoal>& goals, Effort& effort, std::string& text) {
  return TextWalk(goals, effort).run(text);
}

}  // namespace edge::compiler::analyze
