#include <gmock/gmock.h>

#include "program/dump/dump.h"
#include "program/evaluate/evaluate.h"
#include "program/test_program.h"

namespace edge::program {
namespace {

using sample::Host;

constexpr std::uint16_t kHeaderSlot = kFirstHostSlot;

/// A host with one header slot, and a request to try its nodes on.
class Predicate : public testing::Test {
 protected:
  Predicate() : host_(1) { host_.slots = {{SlotKind::kHeader, host_.builder.string("x-env")}}; }

  bool holds_for(std::uint32_t node, const RequestView& request, std::uint32_t* failed = nullptr) {
    const std::vector<std::byte> bytes = Host(host_).build();
    const Section section{SectionKind::kHost, 1, {}, SectionView(bytes)};
    const SlotValues values(section, request, [](std::string_view, std::string_view) { return false; });
    return holds(section.view, node, values.input(), failed);
  }
  std::string text(std::uint32_t node) {
    const std::vector<std::byte> bytes = Host(host_).build();
    return predicate_text(SectionView(bytes), node);
  }
  static RequestView request(std::string_view path, std::span<const Field> headers = {}, const char* source = "::") {
    return {"GET", "a.com", path, "", headers, *parse_ip(source)};
  }

  Host host_;
};

TEST_F(Predicate, AnAbsentFieldDiffersFromEveryValue) {
  const auto equals = host_.text_node(Op::kEquals, kHeaderSlot, "");
  const auto differs = host_.node(Op::kNot, 0, equals);
  const auto present = host_.node(Op::kPresent, kHeaderSlot);
  const Field empty{"X-Env", ""};
  EXPECT_FALSE(holds_for(equals, request("/")));
  EXPECT_TRUE(holds_for(differs, request("/")));
  EXPECT_FALSE(holds_for(present, request("/")));
  EXPECT_TRUE(holds_for(equals, request("/", {&empty, 1})));
  EXPECT_TRUE(holds_for(present, request("/", {&empty, 1})));
}

TEST_F(Predicate, RepeatedFieldsAreJoined) {
  const auto joined = host_.text_node(Op::kEquals, kHeaderSlot, "a, b, c");
  const Field fields[] = {{"X-ENV", "a"}, {"x-env", "b"}, {"other", "x"}, {"x-Env", "c"}};
  EXPECT_TRUE(holds_for(joined, request("/", fields)));
}

TEST_F(Predicate, PathPrefixesAreWholeSegments) {
  const auto prefix = host_.text_node(Op::kPathPrefix, kSlotPath, "/api");
  const auto root = host_.text_node(Op::kPathPrefix, kSlotPath, "");
  EXPECT_TRUE(holds_for(prefix, request("/api/x")));
  EXPECT_TRUE(holds_for(prefix, request("/api")));
  EXPECT_FALSE(holds_for(prefix, request("/apiv2")));
  EXPECT_TRUE(holds_for(root, request("/")));
  EXPECT_FALSE(holds_for(root, request("*")));
}

TEST_F(Predicate, SourceBlocksCountBits) {
  const auto cidr = [&](const char* block) {
    const Cidr parsed = *parse_cidr(block);
    CidrRecord& record = host_.cidrs.emplace_back();
    std::copy(parsed.address.bytes.begin(), parsed.address.bytes.end(), record.address);
    record.prefix_length = parsed.prefix_length;
    return host_.node(Op::kSourceIn, 0, static_cast<std::uint32_t>(host_.cidrs.size() - 1));
  };
  const auto block = cidr("10.1.0.0/20");
  const auto everything = cidr("::/0");
  const auto single = cidr("192.0.2.7");
  EXPECT_TRUE(holds_for(block, request("/", {}, "10.1.15.255")));
  EXPECT_FALSE(holds_for(block, request("/", {}, "10.1.16.0")));
  EXPECT_TRUE(holds_for(everything, request("/", {}, "10.1.16.0")));
  EXPECT_TRUE(holds_for(single, request("/", {}, "192.0.2.7")));
  EXPECT_FALSE(holds_for(single, request("/", {}, "192.0.2.6")));
  EXPECT_EQ(text(block), "source_ip in \"10.1.0.0/20\"");
}

TEST_F(Predicate, TellsTheFirstConditionThatFailed) {
  const auto method = host_.text_node(Op::kEquals, kSlotMethod, "GET");
  const auto env = host_.text_node(Op::kEquals, kHeaderSlot, "prod");
  const auto other = host_.text_node(Op::kEquals, kHeaderSlot, "test");
  const auto either = host_.list_node(Op::kOr, {env, other});
  const auto both = host_.list_node(Op::kAnd, {method, either});
  std::uint32_t failed = kNone;
  EXPECT_FALSE(holds_for(both, request("/"), &failed));
  EXPECT_EQ(failed, either);
  EXPECT_EQ(text(both), "method == \"GET\" AND (header:x-env == \"prod\" OR header:x-env == \"test\")");
  EXPECT_EQ(text(host_.node(Op::kNot, 0, both)),
            "NOT (method == \"GET\" AND (header:x-env == \"prod\" OR header:x-env == \"test\"))");
  EXPECT_EQ(text(host_.node(Op::kNot, 0, env)), "header:x-env != \"prod\"");
}

TEST_F(Predicate, EmptyListsAreTheirNeutralElements) {
  EXPECT_TRUE(holds_for(host_.list_node(Op::kAnd, {}), request("/")));
  EXPECT_FALSE(holds_for(host_.list_node(Op::kOr, {}), request("/")));
  EXPECT_FALSE(holds_for(host_.node(Op::kFalse), request("/")));
  EXPECT_TRUE(holds_for(kNone, request("/")));
}

TEST_F(Predicate, TextIsShownAsItIsWritten) {
  EXPECT_EQ(text(host_.text_node(Op::kEquals, kHeaderSlot, "a\"b\\c\n")), R"(header:x-env == "a\"b\\c\x0a")");
  EXPECT_EQ(text(host_.text_node(Op::kContains, kSlotPath, "x")), "path contains \"x\"");
  EXPECT_EQ(text(host_.text_node(Op::kEquals, kSlotPath, "/x")), "path exact \"/x\"");
}

}  // namespace
}  // namespace edge::program
