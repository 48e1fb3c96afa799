// The passes keep the meaning: random hosts give every request the rule that they gave it before.
#include "compiler/opt/passes.h"

#include <array>
#include <optional>
#include <random>

#include <gtest/gtest.h>

#include "compiler/ir/node_set.h"

namespace edge::compiler::opt {
namespace {

using program::Op;

constexpr std::array<const char*, 6> kPaths = {"/", "/a", "/a/b", "/a/b/c", "/ab", "*"};
constexpr std::array<const char*, 3> kPrefixes = {"", "/a", "/a/b"};
constexpr std::uint32_t kSlots = 3;

/// Slot values by number; nullopt is absent.
struct Request {
  std::string path;
  std::array<std::optional<std::string>, program::kFirstHostSlot + kSlots> slots;
};

bool below(std::string_view prefix, std::string_view path) {
  return path.starts_with('/') && path.starts_with(prefix) &&
         (path.size() == prefix.size() || path[prefix.size()] == '/');
}

bool holds(const ir::Host& host, std::uint32_t index, const Request& request) {
  if (index == ir::kAlways) return true;
  const ir::Node& node = host.nodes[index];
  switch (node.op) {
    case Op::kAnd:
      for (const auto operand : node.operands) {
        if (!holds(host, operand, request)) return false;
      }
      return true;
    case Op::kOr:
      for (const auto operand : node.operands) {
        if (holds(host, operand, request)) return true;
      }
      return false;
    case Op::kNot:
      return !holds(host, node.operands.front(), request);
    case Op::kPresent:
      return request.slots[node.slot].has_value();
    case Op::kEquals:
      return request.slots[node.slot] == node.text;
    case Op::kPathPrefix:
      return below(node.text, request.path);
    case Op::kContains:
      return request.path.find(node.text) != std::string::npos;
    default:
      return false;
  }
}

/// The rule number of the winner, as the tables are walked.
std::optional<std::uint16_t> decide(const ir::Host& host, const Request& request) {
  const auto first = [&](const ir::Group& group) -> std::optional<std::uint16_t> {
    for (const ir::Candidate& candidate : group) {
      if (holds(host, candidate.predicate, request)) return candidate.rule;
    }
    return std::nullopt;
  };
  if (const auto exact = host.exact.find(request.path); exact != host.exact.end()) {
    if (const auto winner = first(exact->second)) return winner;
  }
  // Longer prefixes come later in the map, as each begins with the one before.
  for (auto prefix = host.prefix.rbegin(); prefix != host.prefix.rend(); ++prefix) {
    if (!below(prefix->first, request.path)) continue;
    if (const auto winner = first(prefix->second)) return winner;
  }
  return first(host.any);
}

class RandomHost {
 public:
  explicit RandomHost(std::uint32_t seed) : random_(seed) {}

  ir::Host make() {
    ir::Host host;
    for (std::uint32_t i = 0; i < kSlots; ++i)
      host.slots.push_back({program::SlotKind::kHeader, std::string(1, 'a' + i)});
    for (int i = 0; i < 8; ++i) nodes_.add(leaf());
    for (int i = 0; i < 14; ++i) nodes_.add(inner());
    std::uint16_t rule = 0;
    for (int i = 0; i < 12; ++i) {
      ir::Candidate candidate;
      candidate.predicate = pick(6) == 0 ? ir::kAlways : pick(static_cast<std::uint32_t>(nodes_.size()));
      candidate.rule = rule++;
      group(host).push_back(candidate);
    }
    host.nodes = nodes_.take();
    return host;
  }

 private:
  std::uint32_t pick(std::uint32_t choices) { return random_() % choices; }

  ir::Group& group(ir::Host& host) {
    switch (pick(3)) {
      case 0:
        return host.exact[kPaths[pick(kPaths.size() - 1)]];
      case 1:
        return host.prefix[kPrefixes[pick(kPrefixes.size())]];
      default:
        return host.any;
    }
  }

  ir::Node leaf() {
    ir::Node node{};
    switch (pick(6)) {
      case 0:
        node.op = Op::kPathPrefix;
        node.slot = program::kSlotPath;
        node.text = kPrefixes[pick(kPrefixes.size())];
        return node;
      case 1:
        node.op = pick(2) == 0 ? Op::kEquals : Op::kContains;
        node.slot = program::kSlotPath;
        node.text = kPaths[pick(kPaths.size() - 1)];
        return node;
      case 2:
        node.op = Op::kPresent;
        break;
      default:
        node.op = Op::kEquals;
        node.text = pick(2) == 0 ? "1" : "2";
        break;
    }
    node.slot = program::kFirstHostSlot + pick(kSlots);
    return node;
  }

  ir::Node inner() {
    ir::Node node{};
    const auto any_node = [this] { return pick(static_cast<std::uint32_t>(nodes_.size())); };
    switch (pick(4)) {
      case 0:
        node.op = Op::kNot;
        node.operands = {any_node()};
        return node;
      case 1:
        node.op = Op::kOr;
        break;
      default:
        node.op = Op::kAnd;
        break;
    }
    for (std::uint32_t i = 2 + pick(3); i > 0; --i) node.operands.push_back(any_node());
    return node;
  }

  std::mt19937 random_;
  ir::NodeSet nodes_;
};

std::vector<Request> all_requests() {
  const std::array<std::optional<std::string>, 4> values = {std::nullopt, "1", "2", "3"};
  std::vector<Request> requests;
  for (const char* path : kPaths) {
    for (std::size_t i = 0; i < values.size() * values.size() * values.size(); ++i) {
      Request request;
      request.path = path;
      request.slots[program::kSlotMethod] = "GET";
      request.slots[program::kSlotPath] = path;
      request.slots[2] = values[i % 4];
      request.slots[3] = values[i / 4 % 4];
      request.slots[4] = values[i / 16];
      requests.push_back(std::move(request));
    }
  }
  return requests;
}

TEST(Passes, KeepTheMeaningOfRandomHosts) {
  const std::vector<Request> requests = all_requests();
  std::size_t dropped = 0;
  for (std::uint32_t seed = 1; seed <= 400; ++seed) {
    const ir::Host before = RandomHost(seed).make();
    ir::Host after = before;
    optimize(after);
    dropped += after.shadowed.size() + after.impossible.size();
    for (Request request : requests) {
      const auto expected = decide(before, request);
      // The slots may have other numbers, or be gone.
      Request renumbered = request;
      for (std::uint32_t i = 0; i < after.slots.size(); ++i) {
        const auto old = static_cast<std::uint32_t>(after.slots[i].name[0] - 'a');
        renumbered.slots[program::kFirstHostSlot + i] = request.slots[program::kFirstHostSlot + old];
      }
      ASSERT_EQ(decide(after, renumbered), expected) << "seed " << seed << ", path " << request.path;
    }
    for (std::size_t i = 0; i < after.nodes.size(); ++i) {
      EXPECT_NE(after.nodes[i].op, Op::kFalse);
      EXPECT_FALSE(ir::is_true(after.nodes[i]));
      for (const auto operand : after.nodes[i].operands) EXPECT_LT(operand, i);
    }
    ir::Host twice = after;
    optimize(twice);
    for (const Request& request : requests) ASSERT_EQ(decide(twice, request), decide(after, request));
  }
  EXPECT_GT(dropped, 400U);
}

TEST(Passes, NumberDropsWhatNobodyUses) {
  ir::Host host;
  host.slots = {{program::SlotKind::kQuery, "q"}, {program::SlotKind::kHeader, "b"}, {program::SlotKind::kHeader, "a"}};
  host.regexes = {{"unused", 1}, {"^x", 3}, {"^/y", program::kSlotPath}};
  ir::NodeSet nodes;
  ir::Node node{};
  node.op = Op::kRegex;
  node.regex = 1;
  const auto header = nodes.add(node);
  node.regex = 2;
  const auto path = nodes.add(node);
  node = {};
  node.op = Op::kEquals;
  node.slot = 4;
  nodes.add(node);
  host.any = {{header, 0, 0, 0}, {path, 0, 0, 1}};
  host.nodes = nodes.take();
  number(host);
  ASSERT_EQ(host.slots.size(), 1U);
  EXPECT_EQ(host.slots[0].name, "b");
  ASSERT_EQ(host.regexes.size(), 2U);
  EXPECT_EQ(host.regexes[0].pattern, "^/y");
  EXPECT_EQ(host.regexes[1].slot, program::kFirstHostSlot);
  EXPECT_EQ(host.nodes.size(), 2U);
}

}  // namespace
}  // namespace edge::compiler::opt
