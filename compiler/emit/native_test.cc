#include "compiler/emit/native.h"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <random>
#include <string>

#include <dlfcn.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "compiler/emit/native_plan.h"
#include "compiler/emit/tables.h"
#include "program/evaluate/evaluate.h"

namespace edge::compiler::emit {
namespace {

using program::Op;
using program::Target;

/// Values that are alike in the ways that comparisons could miss: by length, by the last byte, over word borders.
const std::vector<std::string>& vocabulary() {
  static const std::vector<std::string> words = [] {
    std::vector<std::string> list = {"",         "a",         "b",
                                     "ab",       "ba",        "abc",
                                     "abd",      "abcd",      "abce",
                                     "abcdefg",  "abcdefgh",  "abcdefgi",
                                     "xbcdefgh", "abcdefghi", "prod",
                                     "canary",   "staging",   "GET",
                                     "POST",     "DELETE",    "/api",
                                     "/api/",    "/api/v1",   "/apiv2",
                                     "/",        "/api/v1/x", std::string(1, '\0')};
    for (const std::size_t size : {16, 17, 24, 31, 64, 127, 128, 129, 200, 256, 300}) {
      list.push_back(std::string(size, 'k'));
      list.push_back(std::string(size - 1, 'k') + 'l');
      list.push_back('l' + std::string(size - 1, 'k'));
    }
    return list;
  }();
  return words;
}

class RandomHost {
 public:
  explicit RandomHost(std::uint32_t seed) : random_(seed) {
    config_.gateways.emplace_back();
    config_.listeners.emplace_back();
    config_.routes.emplace_back().rules.emplace_back().matches.emplace_back();
    host_.id = seed + 1;
    host_.slots = {
        {program::SlotKind::kHeader, "x-a"}, {program::SlotKind::kHeader, "x-b"}, {program::SlotKind::kQuery, "q"}};
    for (std::uint32_t i = 0; i < 70; ++i) host_.regexes.push_back({"p" + std::to_string(i), program::kSlotPath});
  }

  /// `depth` 1 gives equalities and conjunctions of them, as most rules are; more gives expressions.
  void add_group(std::size_t size, unsigned depth) {
    ir::Group group;
    for (std::size_t i = 0; i < size; ++i) {
      ir::Candidate candidate;
      if (pick(20) != 0 || i == 0) candidate.predicate = depth <= 1 ? conjunction() : expression(depth);
      group.push_back(candidate);
    }
    host_.exact.emplace("/group" + std::to_string(host_.exact.size()), std::move(group));
  }

  std::vector<std::byte> section() const { return emit_host(config_, host_, 0); }
  std::size_t pick(std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random_); }
  const std::string& word() { return vocabulary()[pick(vocabulary().size())]; }

 private:
  std::uint32_t add(ir::Node node) {
    host_.nodes.push_back(std::move(node));
    return static_cast<std::uint32_t>(host_.nodes.size() - 1);
  }
  std::uint32_t add_text(Op op, std::uint32_t slot, std::string text) {
    ir::Node node{};
    node.op = op;
    node.slot = slot;
    node.text = std::move(text);
    return add(std::move(node));
  }
  std::uint32_t add_operands(Op op, std::vector<std::uint32_t> operands) {
    ir::Node node{};
    node.op = op;
    node.operands = std::move(operands);
    return add(std::move(node));
  }
  std::uint32_t equals() { return add_text(Op::kEquals, static_cast<std::uint32_t>(pick(5)), word()); }
  std::uint32_t conjunction() {
    std::vector<std::uint32_t> operands;
    for (std::size_t i = pick(3) + 1; i > 0; --i) operands.push_back(equals());
    return operands.size() == 1 ? operands.front() : add_operands(Op::kAnd, std::move(operands));
  }
  std::uint32_t leaf() {
    const auto slot = static_cast<std::uint32_t>(pick(5));
    switch (pick(8)) {
      case 0:
        return add_text(Op::kPresent, slot, "");
      case 1:
        return add_text(Op::kContains, slot, word());
      case 2:
        return add_text(Op::kPathPrefix, program::kSlotPath, word());
      case 3: {
        ir::Node node{};
        node.op = Op::kSourceIn;
        node.cidr.prefix_length = static_cast<std::uint8_t>(pick(129));
        for (auto& byte : node.cidr.address.bytes) byte = pick(2) == 0 ? 0 : 0x80;
        return add(std::move(node));
      }
      case 4: {
        ir::Node node{};
        node.op = Op::kRegex;
        node.regex = static_cast<std::uint32_t>(pick(70));
        return add(std::move(node));
      }
      case 5:
        return pick(6) == 0 ? add_operands(Op::kFalse, {}) : equals();
      default:
        return equals();
    }
  }
  std::uint32_t expression(unsigned depth) {
    if (depth == 0 || pick(4) == 0) return leaf();
    if (pick(4) == 0) return add_operands(Op::kNot, {expression(depth - 1)});
    std::vector<std::uint32_t> operands;
    for (std::size_t i = pick(4); i > 0; --i) operands.push_back(expression(depth - 1));
    return add_operands(pick(2) == 0 ? Op::kAnd : Op::kOr, std::move(operands));
  }

  std::mt19937 random_;
  LinkedConfig config_;
  ir::Host host_;
};

/// One request's slots, each value in an allocation of its own, so that a read past its end is seen by a sanitizer.
class RandomInput {
 public:
  explicit RandomInput(RandomHost& host) {
    values_.resize(5);
    for (std::size_t i = 0; i < values_.size(); ++i) {
      slots_[i] = {nullptr, 0};
      if (i >= program::kFirstHostSlot && host.pick(4) == 0) continue;
      const std::string& word = host.word();
      values_[i] = std::make_unique<char[]>(word.size());
      std::memcpy(values_[i].get(), word.data(), word.size());
      slots_[i] = {values_[i].get(), word.size()};
    }
    for (auto& byte : source_) byte = host.pick(2) == 0 ? 0 : 0x80;
    for (auto& word : hits_) word = host.pick(2) == 0 ? 0 : 0x5555'5555'5555'5555;
    input = {slots_, source_, hits_};
  }
  program::MatchInput input{};

 private:
  std::vector<std::unique_ptr<char[]>> values_;
  program::SlotValue slots_[5];
  std::uint8_t source_[16];
  std::uint64_t hits_[2];
};

/// A shared object opened as agents open it.
class Opened {
 public:
  explicit Opened(std::span<const std::byte> bytes) : descriptor_(memfd_create("test", MFD_CLOEXEC)) {
    EXPECT_EQ(write(descriptor_, bytes.data(), bytes.size()), static_cast<ssize_t>(bytes.size()));
    handle_ = dlopen(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), RTLD_NOW | RTLD_LOCAL);
    if (handle_ == nullptr) ADD_FAILURE() << dlerror();
  }
  ~Opened() {
    if (handle_ != nullptr) dlclose(handle_);
    close(descriptor_);
  }
  const program::NativeIndex& index() const {
    return *static_cast<const program::NativeIndex*>(dlsym(handle_, program::kNativeIndexSymbol));
  }

 private:
  int descriptor_;
  void* handle_ = nullptr;
};

void expect_agreement(std::uint32_t seed, std::size_t groups, std::size_t size, unsigned depth, std::size_t inputs) {
  RandomHost host(seed);
  for (std::size_t i = 0; i < groups; ++i) host.add_group(size, depth);
  const std::vector<std::byte> bytes = host.section();
  const program::SectionView view{bytes};
  ASSERT_TRUE(needs_code(view));
  auto shard = build_native(Target::kX8664V2, {{seed, view}});
  ASSERT_TRUE(shard.ok()) << shard.error().text;
  auto code = NativeCode::load(Target::kX8664V2, shard->object);
  ASSERT_TRUE(code.ok()) << code.error().text;
  const Opened opened(shard->shared_object);
  const auto records = view.array(view.header<program::HostHeader>().groups);
  for (const program::NativeIndex* index : {&code->index(), &opened.index()}) {
    ASSERT_EQ(index->abi_version, program::kAbiVersion);
    ASSERT_EQ(index->host_count, 1u);
    ASSERT_EQ(index->hosts[0].host_id, seed);
    ASSERT_EQ(index->hosts[0].function_count, records.size());
  }
  for (std::size_t i = 0; i < inputs; ++i) {
    const RandomInput request(host);
    for (std::size_t g = 0; g < records.size(); ++g) {
      const std::uint32_t expected = program::decide_group(view, records[g], request.input);
      for (const program::NativeIndex* index : {&code->index(), &opened.index()}) {
        ASSERT_NE(index->hosts[0].functions[g], nullptr);
        ASSERT_EQ(index->hosts[0].functions[g](&request.input), expected) << "seed " << seed << " group " << g;
      }
    }
  }
}

TEST(Native, AgreesWithTheInterpreterOnEqualities) {
  for (std::uint32_t seed = 1; seed <= 12; ++seed) expect_agreement(seed, 6, 1 + seed * 3, 1, 2000);
}

TEST(Native, AgreesWithTheInterpreterOnExpressions) {
  for (std::uint32_t seed = 100; seed <= 112; ++seed) expect_agreement(seed, 8, 6, 1 + seed % 6, 1500);
}

TEST(Native, AgreesWithTheInterpreterInGroupsThatAreNotOptimised) { expect_agreement(7, 2, 400, 1, 3000); }

TEST(Native, IsTheSameForAnyOrderOfHosts) {
  std::vector<std::vector<std::byte>> sections;
  std::vector<NativeInput> inputs;
  for (std::uint32_t seed = 1; seed <= 5; ++seed) {
    RandomHost host(seed);
    host.add_group(5, 3);
    sections.push_back(host.section());
    inputs.push_back({seed * 77 % 19, program::SectionView{sections.back()}});
  }
  const auto first = build_native(Target::kX8664V2, inputs);
  std::reverse(inputs.begin(), inputs.end());
  const auto second = build_native(Target::kX8664V2, inputs);
  ASSERT_TRUE(first.ok() && second.ok());
  EXPECT_EQ(first->object, second->object);
  EXPECT_EQ(first->shared_object, second->shared_object);
  const Opened opened(first->shared_object);
  for (std::size_t i = 1; i < opened.index().host_count; ++i) {
    EXPECT_LT(opened.index().hosts[i - 1].host_id, opened.index().hosts[i].host_id);
  }
}

TEST(Native, IsBuiltForEveryTargetOfTheList) {
  RandomHost host(3);
  host.add_group(20, 2);
  const std::vector<std::byte> bytes = host.section();
  for (const Target target : {Target::kX8664, Target::kX8664V2, Target::kX8664V3, Target::kAarch64}) {
    const auto shard = build_native(target, {{1, program::SectionView{bytes}}});
    EXPECT_TRUE(shard.ok()) << static_cast<int>(target) << ": " << shard.error().text;
  }
  EXPECT_FALSE(build_native(Target::kTablesOnly, {{1, program::SectionView{bytes}}}).ok());
  const auto arm = build_native(Target::kAarch64, {{1, program::SectionView{bytes}}});
  EXPECT_EQ(NativeCode::load(Target::kAarch64, arm->object).error().code, ErrorCode::kFailedPrecondition);
}

TEST(Native, NeedsNoOtherLibrary) {
  RandomHost host(4);
  host.add_group(30, 4);
  const std::vector<std::byte> bytes = host.section();
  const auto shard = build_native(Target::kX8664V2, {{1, program::SectionView{bytes}}});
  ASSERT_TRUE(shard.ok());
  const std::string text(reinterpret_cast<const char*>(shard->shared_object.data()), shard->shared_object.size());
  for (const char* name : {"libc", "memcmp", "bcmp", "memmem", "GLIBC"}) {
    EXPECT_EQ(text.find(name), std::string::npos) << name;
  }
}

TEST(Native, RefusesAHostTwice) {
  RandomHost host(5);
  host.add_group(2, 1);
  const std::vector<std::byte> bytes = host.section();
  const program::SectionView view{bytes};
  EXPECT_EQ(build_native(Target::kX8664V2, {{1, view}, {1, view}}).error().code, ErrorCode::kInvalidArgument);
}

TEST(NativePlan, GrowsLinearlyWithTheRules) {
  // Every candidate tests both slots or one of them: a tree that copied the rest would square.
  RandomHost host(6);
  host.add_group(800, 1);
  const std::vector<std::byte> bytes = host.section();
  const program::SectionView view{bytes};
  const auto count = [](const auto& self, const Plan& plan) -> std::size_t {
    std::size_t sum = plan.chain.size();
    if (plan.split == nullptr) return sum;
    for (const auto& [value, bucket] : plan.split->buckets) sum += self(self, bucket);
    return sum + (plan.split->rest == nullptr ? 0 : self(self, *plan.split->rest));
  };
  for (const auto& group : view.array(view.header<program::HostHeader>().groups)) {
    EXPECT_LE(count(count, plan_group(view, group)), group.count);
  }
}

TEST(NativePlan, CoversEveryByteOfAValueOnce) {
  for (std::size_t size = 0; size < 40; ++size) {
    std::vector<bool> covered(size);
    for (const Window window : windows(size)) {
      ASSERT_LE(window.offset + window.width, size);
      for (std::uint32_t i = 0; i < window.width; ++i) covered[window.offset + i] = true;
    }
    EXPECT_EQ(std::count(covered.begin(), covered.end(), false), 0) << size;
  }
}

}  // namespace
}  // namespace edge::compiler::emit
