// One part of a request (its host, its path, a header …) with its conditions: finds a value that meets some of them and
// none of the others. The theory solvers of a Space's search (space.cc).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/hostname.h"
#include "base/ip.h"
#include "compiler/analyze/space/automaton.h"
#include "compiler/analyze/space/effort.h"
#include "compiler/analyze/space/space.h"

namespace edge::compiler::analyze {

/// A condition, and whether it must hold: twice its number, plus one when it must not hold.
using ConditionGoal = std::uint32_t;
inline ConditionGoal goal_of(std::uint32_t condition, bool holds) { return condition * 2 + (holds ? 0 : 1); }
inline std::uint32_t condition_of(ConditionGoal goal) { return goal / 2; }
inline bool must_hold(ConditionGoal goal) { return goal % 2 == 0; }

struct Value {
  bool absent = false;
  std::string text;  ///< host, method, path, header, query
  IpAddress source;
};

class Values {
 public:
  /// Parts are numbered as they occur; the first four always exist.
  enum Part : std::uint32_t { kHost, kSource, kMethod, kPath, kFirstField };
  enum class Found : std::uint8_t { kValue, kNone, kNotDecided };

  Values();

  /// Returns numbers of conditions; equal ones get equal numbers.
  std::uint32_t host_in(const HostPattern& pattern);
  std::uint32_t source_in(const Cidr& block);
  std::uint32_t where(const Subject& subject, Test test, const std::string& operand);

  std::size_t count() const { return conditions_.size(); }
  std::size_t parts() const { return parts_.size(); }
  std::uint32_t part_of(std::uint32_t condition) const { return conditions_[condition].part; }
  const Subject& subject_of(std::uint32_t part) const { return parts_[part].subject; }

  /// Finds a value of `part` that meets all goals, which are all about `part`. Sorts `goals`. Results are cached.
  Found find(std::uint32_t part, std::vector<ConditionGoal>& goals, Effort& effort, Value& value);

  /// Returns whether `value` meets all goals.
  bool fits(const Value& value, const std::vector<ConditionGoal>& goals, Effort& effort);

 private:
  struct Condition {
    explicit Condition(std::uint32_t of) : part(of) {}
    std::uint32_t part;
    Test test = Test::kPresent;
    std::string operand;
    HostPattern host;
    Cidr block;
    std::unique_ptr<Automaton> set;  ///< texts that meet it; null: presence is enough, or an unreadable pattern
  };
  struct PartOf {
    Subject subject;
    std::unique_ptr<Automaton> possible;  ///< null: every text
    bool optional = false;
  };

  std::uint32_t add(const std::string& key, Condition condition);
  std::uint32_t field_part(const Subject& subject);
  bool holds(const Condition& condition, const Value& value, Effort& effort);
  Found find_host(const std::vector<ConditionGoal>& goals, Value& value) const;
  Found find_source(const std::vector<ConditionGoal>& goals, Value& value) const;
  Found find_text(const PartOf& part, const std::vector<ConditionGoal>& goals, Effort& effort, Value& value);

  std::vector<PartOf> parts_;
  std::vector<Condition> conditions_;
  std::map<std::string, std::uint32_t> numbers_;
  std::map<std::string, std::uint32_t> fields_;
  std::map<std::vector<ConditionGoal>, std::pair<Found, Value>> known_;
};

}  // namespace edge::compiler::analyze
