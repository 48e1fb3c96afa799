// Programs made by hand, for the tests of this folder: the runtime knows no compiler.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "program/format/format.h"
#include "program/read.h"
#include "program/section_builder.h"
#include "program/write.h"

namespace edge::runtime {

/// One host section in the making. Every action is a route of its own, named by its number: `r0`, `r1`, …
class TestHost {
 public:
  explicit TestHost(std::string pattern) : pattern_(std::move(pattern)) {}

  const std::string& pattern() const { return pattern_; }
  std::uint32_t slot(program::SlotKind kind, std::string name);
  std::uint32_t regex(std::string pattern, std::uint32_t slot = 1);
  std::uint32_t node(program::Op op, std::uint32_t slot, std::string text);
  std::uint32_t node(program::Op op, std::uint32_t a);
  std::uint32_t node(program::Op op, const std::vector<std::uint32_t>& operands);
  std::uint32_t source_in(const char* cidr);

  /// The next action, as a target of its own or as a group of candidates with the predicates named.
  program::Target32 action();
  program::Target32 group(const std::vector<std::uint32_t>& predicates);

  void exact(const std::string& path, program::Target32 target) {
    paths_.try_emplace(path, program::kNone, program::kNone).first->second.first = target;
  }
  void prefix(const std::string& path, program::Target32 target);
  void early_regex_target(program::Target32 target) { early_regex_target_ = target; }
  void regex_target(program::Target32 target) { regex_target_ = target; }
  void any(program::Target32 target) { any_ = target; }

  /// `sets` gets the patterns of each regex set, by the id of its section.
  std::vector<std::byte> section(std::uint64_t id, std::uint32_t shard,
                                 std::map<std::uint64_t, std::vector<std::string>>& sets) const;
  std::uint32_t actions() const { return actions_; }

 private:
  void write_nodes(program::SectionBuilder& builder, program::HostHeader& header) const;
  void write_regexes(program::SectionBuilder& builder, std::uint64_t id, program::HostHeader& header,
                     std::map<std::uint64_t, std::vector<std::string>>& sets) const;

  struct Regex {
    std::string pattern;
    std::uint32_t slot;
  };
  struct Node {
    program::NodeRecord record;
    std::string text;
    bool has_text = false;
  };

  std::string pattern_;
  std::map<std::string, std::pair<program::Target32, program::Target32>> paths_;
  program::Target32 root_ = program::kNone;
  program::Target32 early_regex_target_ = program::kNone;
  program::Target32 regex_target_ = program::kNone;
  program::Target32 any_ = program::kNone;
  std::uint32_t actions_ = 0;
  std::vector<program::GroupRecord> groups_;
  std::vector<program::CandidateRecord> candidates_;
  std::vector<Node> nodes_;
  std::vector<std::uint32_t> operands_;
  std::vector<std::pair<program::SlotKind, std::string>> slots_;
  std::vector<program::CidrRecord> cidrs_;
  std::vector<Regex> regexes_;

  friend class TestProgram;
};

/// One bind, one listener for every name, and its hosts; host ids count from 1 in the order of `add`.
class TestProgram {
 public:
  TestHost& add(std::string pattern);
  /// A section of kind kNative with id 0; every host gets its code from it.
  void native(std::vector<std::byte> bytes) { native_ = std::move(bytes); }
  void target(program::Target target) { target_ = target; }
  /// Compiles the patterns itself; `damage` is done to every database.
  using Damage = void (*)(std::vector<std::byte>&);
  std::shared_ptr<std::vector<std::byte>> assemble(Damage damage = nullptr) const;
  program::ProgramView read(Damage damage = nullptr) const;

 private:
  std::vector<std::byte> listeners() const;

  std::vector<std::unique_ptr<TestHost>> hosts_;
  std::vector<std::byte> native_;
  program::Target target_ = program::Target::kX8664;
};

}  // namespace edge::runtime
