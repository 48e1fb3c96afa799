#include "compiler/analyze/diff/diff_rules.h"

#include <algorithm>
#include <cstdint>
#include <map>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "compiler/analyze/diff/chain_rules.h"
#include "compiler/analyze/explain/explain_words.h"

namespace edge::compiler::analyze {
namespace {

using PathClass = program::Trace::PathClass;

/// Changed rules that are looked at, and classes that are told of one rule; the rest is said not to be decided.
constexpr std::size_t kMaxExplored = 20'000;
constexpr std::size_t kMaxClasses = 16;
/// Rules that one question names; where more come into play, it is asked path by path.
constexpr std::size_t kMaxNamed = 256;
/// Above this, all rules of a place whose order changed count as changed.
constexpr std::size_t kMaxAligned = std::size_t{1} << 22;

using Indices = std::vector<std::size_t>;

/// Which of `a` and `b` are not in a longest common subsequence of their keys.
template <typename Key>
void align(const Indices& a, const Indices& b, const Key& key_a, const Key& key_b, Indices& changed_a,
           Indices& changed_b) {
  std::size_t begin = 0;
  while (begin < a.size() && begin < b.size() && key_a(a[begin]) == key_b(b[begin])) ++begin;
  std::size_t end_a = a.size();
  std::size_t end_b = b.size();
  while (end_a > begin && end_b > begin && key_a(a[end_a - 1]) == key_b(b[end_b - 1])) --end_a, --end_b;
  const std::size_t rows = end_a - begin;
  const std::size_t columns = end_b - begin;
  if (rows * columns > kMaxAligned) {
    changed_a.insert(changed_a.end(), a.begin() + static_cast<std::ptrdiff_t>(begin),
                     a.begin() + static_cast<std::ptrdiff_t>(end_a));
    changed_b.insert(changed_b.end(), b.begin() + static_cast<std::ptrdiff_t>(begin),
                     b.begin() + static_cast<std::ptrdiff_t>(end_b));
    return;
  }
  std::vector<std::uint32_t> longest((rows + 1) * (columns + 1), 0);
  const auto at = [&](std::size_t i, std::size_t j) -> std::uint32_t& { return longest[i * (columns + 1) + j]; };
  for (std::size_t i = rows; i-- > 0;) {
    for (std::size_t j = columns; j-- > 0;) {
      at(i, j) =
          key_a(a[begin + i]) == key_b(b[begin + j]) ? at(i + 1, j + 1) + 1 : std::max(at(i + 1, j), at(i, j + 1));
    }
  }
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < rows || j < columns) {
    if (i < rows && j < columns && key_a(a[begin + i]) == key_b(b[begin + j])) {
      ++i, ++j;
    } else if (j == columns || (i < rows && at(i + 1, j) >= at(i, j + 1))) {
      changed_a.push_back(a[begin + i++]);
    } else {
      changed_b.push_back(b[begin + j++]);
    }
  }
}

class RulesDiff {
 public:
  RulesDiff(const RuleChain& before, const RuleChain& after, const program::RegexMatcher& regex, bool by_name)
      : chains_{&before, &after},
        sides_{ChainRules(space_, before, texts_, by_name), ChainRules(space_, after, texts_, by_name)},
        regex_(regex) {}

  RulesDifferences run() {
    Indices changed[2];
    find_changed(changed);
    std::size_t explored = 0;
    for (const std::size_t side : {0, 1}) {
      for (const std::size_t index : changed[side]) {
        if (explored++ == kMaxExplored) {
          const std::size_t left = changed[0].size() + changed[1].size() - kMaxExplored;
          out_.undecided.push_back(std::to_string(left) + " more changed rules were not looked at");
          return std::move(out_);
        }
        explore(side, index);
      }
    }
    return std::move(out_);
  }

 private:
  // ---- What changed -------------------------------------------------------------------------------------------------

  std::string_view pattern(std::size_t side, std::uint32_t host) const {
    const program::SectionView& view = chains_[side]->hosts[host]->view;
    return view.string(view.header<program::HostHeader>().pattern);
  }

  /// Rules of one place of sections of one pattern are aligned; between places the order is the same on both sides.
  void find_changed(Indices (&changed)[2]) {
    using PathKey = std::tuple<std::string_view, PathClass, std::string_view>;
    std::map<PathKey, std::pair<Indices, Indices>> places;
    for (const std::size_t side : {0, 1}) {
      const auto& entries = sides_[side].entries();
      for (std::size_t i = 0; i < entries.size(); ++i) {
        auto& position = places[{pattern(side, entries[i].host), entries[i].rule.path_class, entries[i].rule.path}];
        (side == 0 ? position.first : position.second).push_back(i);
      }
    }
    const auto key = [this](std::size_t side) {
      return [this, side](std::size_t index) {
        const ChainRules::Entry& entry = sides_[side].entries()[index];
        return std::uint64_t{entry.condition} << 32 | entry.treatment;
      };
    };
    const std::function<std::uint64_t(std::size_t)> key_before = key(0);
    const std::function<std::uint64_t(std::size_t)> key_after = key(1);
    for (const auto& [position, indices] : places) {
      align(indices.first, indices.second, key_before, key_after, changed[0], changed[1]);
    }
  }

  // ---- What became of it --------------------------------------------------------------------------------------------

  bool alike(std::size_t side, std::size_t rule, std::size_t other) const {
    return sides_[side].entries()[rule].treatment == sides_[1 - side].entries()[other].treatment;
  }

  /// Requests that `rule` of `side` takes and that are treated otherwise on the other side.
  void explore(std::size_t side, std::size_t rule) {
    Set rest = sides_[side].matches(rule);
    for (std::size_t round = 0; round < kMaxClasses; ++round) {
      std::optional<std::size_t> taker;
      bool answered = true;
      Effort effort(kUsualEffort);
      const Finding finding = space_.find(rest, effort, [&](const Witness& request) -> std::optional<Set> {
        const WitnessView view(request);
        const auto own = sides_[side].taker(view.view(), regex_);
        if (own && *own != rule) return sides_[side].matches(*own);
        taker = sides_[1 - side].taker(view.view(), regex_);
        if (!taker || !alike(side, rule, *taker)) return std::nullopt;
        const auto taken = taken_by(1 - side, *taker, rule, request);
        answered = taken.has_value();
        return taken;
      });
      if (finding.state == Finding::State::kNone) return;
      if (finding.state == Finding::State::kNotDecided || !answered) {
        const std::string reason = finding.reason.empty() ? "too many rules come into play" : finding.reason;
        out_.undecided.push_back((side == 0 ? "before: " : "after: ") + sides_[side].name(rule) + ": " + reason);
        return;
      }
      record(side, rule, taker, *finding.request);
      const auto reported = taker ? taken_by(1 - side, *taker, rule, *finding.request) : all_but_taken(1 - side, rule);
      if (!reported) return;
      rest = space_.minus(rest, *reported);
    }
  }

  /// Requests of `rule` that `taker` takes on `side`, and others that are treated like `rule`. Contains `request`.
  std::optional<Set> taken_by(std::size_t side, std::size_t taker, std::size_t rule, const Witness& request) {
    ChainRules& there = sides_[side];
    const TableRule& own = sides_[1 - side].entries()[rule].rule;
    const auto rivals = [&](const TableRule& position) {
      std::vector<Set> sets;
      there.for_each_meeting(position, [&](std::size_t other) {
        if (other < taker && !alike(1 - side, rule, other)) sets.push_back(there.matches(other));
        return sets.size() <= kMaxNamed;
      });
      return sets;
    };
    std::vector<Set> earlier = rivals(own);
    if (earlier.size() <= kMaxNamed) return space_.minus(there.matches(taker), space_.any_of(std::move(earlier)));
    // Too many on all its paths together: one path is answered at a time.
    TableRule here = own;
    here.path_class = PathClass::kExact;
    here.path = request.path;
    earlier = rivals(here);
    if (earlier.size() > kMaxNamed) return std::nullopt;
    const Set path = space_.where({Subject::Kind::kPath}, Test::kEquals, request.path);
    return space_.all_of({path, there.matches(taker), space_.complement(space_.any_of(std::move(earlier)))});
  }

  /// Requests that no rule of `side` takes, among those of `rule` of the other; nullopt: too many rules to say.
  std::optional<Set> all_but_taken(std::size_t side, std::size_t rule) {
    std::vector<Set> sets;
    sides_[side].for_each_meeting(sides_[1 - side].entries()[rule].rule, [&](std::size_t other) {
      sets.push_back(sides_[side].matches(other));
      return sets.size() <= kMaxNamed;
    });
    if (sets.size() > kMaxNamed) return std::nullopt;
    return space_.complement(space_.any_of(std::move(sets)));
  }

  void record(std::size_t side, std::size_t rule, std::optional<std::size_t> taker, const Witness& request) {
    const std::optional<std::size_t> before = side == 0 ? std::optional(rule) : taker;
    const std::optional<std::size_t> after = side == 0 ? taker : std::optional(rule);
    if (!seen_.emplace(before, after).second) return;
    RulesDifference difference;
    if (before) difference.before = sides_[0].rule(*before);
    if (after) difference.after = sides_[1].rule(*after);
    difference.request = request;
    out_.found.push_back(std::move(difference));
  }

  const RuleChain* chains_[2];
  Space space_;
  Interned texts_;
  ChainRules sides_[2];
  const program::RegexMatcher& regex_;
  std::set<std::pair<std::optional<std::size_t>, std::optional<std::size_t>>> seen_;
  RulesDifferences out_;
};

}  // namespace

RulesDifferences diff_rules(const RuleChain& before, const RuleChain& after, const program::RegexMatcher& regex,
                            bool by_name) {
  return RulesDiff(before, after, regex, by_name).run();
}

}  // namespace edge::compiler::analyze
