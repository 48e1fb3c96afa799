#include "runtime/match/load.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>

#include <gtest/gtest.h>

#include "runtime/match/decide.h"
#include "runtime/match/test_program.h"

namespace edge::runtime {
namespace {

using program::Op;
using program::SigningKey;
using program::VerifyKey;

std::vector<std::byte> native_fixture() {
  std::ifstream file(EDGE_TEST_NATIVE, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

/// What the tables say of host 1's group differs from what the fixture's code says: it tells which one ran.
void add_native_host(TestProgram& program) {
  TestHost& host = program.add("");
  host.exact("/", host.group({host.node(Op::kEquals, program::kSlotMethod, "GET")}));
}

bool matches(const LoadedProgram& program, std::string_view method) {
  MatchScratch scratch;
  EXPECT_TRUE(scratch.prepare(program).ok());
  program::RequestView request;
  request.method = method;
  request.host = "a.example";
  request.path = "/";
  return decide(program, 0, request, scratch).has_value();
}

TEST(Load, RunsNativeCodeOfThisCpu) {
  TestProgram program;
  add_native_host(program);
  program.native(native_fixture());
  const auto loaded = LoadedProgram::load(program.read(), nullptr);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_TRUE((*loaded)->has_native_code());
  EXPECT_TRUE(matches(**loaded, "POST"));
  EXPECT_FALSE(matches(**loaded, "GET"));
}

TEST(Load, InterpretsWhereTheCodeIsForAnotherCpu) {
  TestProgram program;
  add_native_host(program);
  program.native(native_fixture());
  program.target(program::Target::kAarch64);
  const auto loaded = LoadedProgram::load(program.read(), nullptr);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  EXPECT_FALSE((*loaded)->has_native_code());
  EXPECT_TRUE(matches(**loaded, "GET"));
  EXPECT_FALSE(matches(**loaded, "POST"));
}

TEST(Load, RefusesCodeThatIsNotTheHosts) {
  const auto code_of = [](TestProgram& program) {
    const auto loaded = LoadedProgram::load(program.read(), nullptr);
    return loaded.ok() ? std::optional<ErrorCode>() : loaded.error().code;
  };
  TestProgram more_hosts;
  add_native_host(more_hosts);
  more_hosts.add("other.example");
  more_hosts.native(native_fixture());
  EXPECT_EQ(code_of(more_hosts), ErrorCode::kDataLoss);

  TestProgram more_groups;
  add_native_host(more_groups);
  more_groups.native(native_fixture());
  TestProgram two_groups;
  TestHost& host = two_groups.add("");
  host.exact("/a", host.group({host.node(Op::kFalse, 0)}));
  host.exact("/b", host.group({host.node(Op::kFalse, 0)}));
  two_groups.native(native_fixture());
  EXPECT_EQ(code_of(two_groups), ErrorCode::kDataLoss);

  TestProgram junk;
  add_native_host(junk);
  junk.native(std::vector<std::byte>(5000, std::byte{0x7f}));
  EXPECT_EQ(code_of(junk), ErrorCode::kDataLoss);
}

TEST(Load, SharesCodeWithTheProgramBefore) {
  TestProgram first;
  add_native_host(first);
  first.native(native_fixture());
  auto before = LoadedProgram::load(first.read(), nullptr);
  ASSERT_TRUE(before.ok());
  TestProgram second;
  TestHost& host = second.add("");
  host.exact("/", host.group({host.node(Op::kEquals, program::kSlotMethod, "PUT")}));
  second.native(native_fixture());
  const auto after = LoadedProgram::load(second.read(), nullptr, *before);
  const auto fresh = LoadedProgram::load(second.read(), nullptr);
  ASSERT_TRUE(after.ok() && fresh.ok());
  const auto code = [](const auto& program) { return program->listener(0).hosts[0].native; };
  EXPECT_EQ(code(*after), code(*before));
  EXPECT_NE(code(*fresh), code(*before));
  before = Error{ErrorCode::kCancelled, "dropped"};  // the code stays while the later program needs it
  EXPECT_TRUE(matches(**after, "POST"));
}

TEST(Load, ListenersOfAGatewayWithoutSettingsHaveTheUsualLimits) {
  TestProgram program;
  program.add("a.example");
  const auto loaded = LoadedProgram::load(program.read(), nullptr, nullptr);
  ASSERT_TRUE(loaded.ok()) << loaded.error().text;
  const LoadedListener& listener = (*loaded)->listener(0);
  EXPECT_EQ(listener.limits, &program::kUsualClientLimits);
  EXPECT_EQ(listener.compression, nullptr);
  EXPECT_EQ(listener.cache, nullptr);
  EXPECT_EQ(listener.tracing, nullptr);
}

TEST(Load, TakesSignedProgramsOfItsKeyAlone) {
  TestProgram program;
  add_native_host(program);
  program.native(native_fixture());
  const auto ours = SigningKey::generate();
  const auto theirs = SigningKey::generate();
  ASSERT_TRUE(ours.ok() && theirs.ok());
  const VerifyKey key = VerifyKey::of(*ours);
  const auto load = [&](const std::shared_ptr<std::vector<std::byte>>& bytes) -> std::optional<ErrorCode> {
    auto view = program::read(bytes);
    if (!view.ok()) return view.error().code;
    const auto loaded = LoadedProgram::load(std::move(view).value(), &key);
    return loaded.ok() ? std::nullopt : std::optional(loaded.error().code);
  };
  const auto unsigned_bytes = program.assemble();
  EXPECT_EQ(load(unsigned_bytes), ErrorCode::kUnauthenticated);
  const auto foreign = program.assemble();
  ASSERT_TRUE(theirs->sign(*foreign).ok());
  EXPECT_EQ(load(foreign), ErrorCode::kUnauthenticated);
  const auto own = program.assemble();
  ASSERT_TRUE(ours->sign(*own).ok());
  EXPECT_EQ(load(own), std::nullopt);
  // Any byte of header, entries and signature block.
  const std::size_t manifest = sizeof(program::FileHeader) + 5 * sizeof(program::SectionEntry);
  for (std::size_t at = 0; at < manifest + sizeof(program::SignatureBlock); ++at) {
    const auto tampered = std::make_shared<std::vector<std::byte>>(*own);
    (*tampered)[at] ^= std::byte{1};
    EXPECT_NE(load(tampered), std::nullopt) << at;
  }
}

TEST(Load, RefusesASectionThatIsNoDatabase) {
  TestProgram program;
  TestHost& host = program.add("");
  host.regex_target(host.group({host.node(Op::kRegex, host.regex("a"))}));
  const auto damage = [](std::vector<std::byte>& bytes) { bytes[0] ^= std::byte{0xff}; };
  const auto loaded = LoadedProgram::load(program.read(damage), nullptr);
  ASSERT_FALSE(loaded.ok());
  EXPECT_EQ(loaded.error().code, ErrorCode::kDataLoss);
}

TEST(Load, ADatabaseIsHashedBeforeItIsSearchedWith) {
  TestProgram program;
  TestHost& host = program.add("");
  host.regex_target(host.group({host.node(Op::kRegex, host.regex("a"))}));
  const auto bytes = program.assemble(nullptr);
  const auto sound = program::read(bytes);
  ASSERT_TRUE(sound.ok());
  const auto sections = sound->sections();
  const auto regex = std::ranges::find(sections, program::SectionKind::kRegex, &program::Section::kind);
  const auto damaged = std::make_shared<std::vector<std::byte>>(*bytes);
  (*damaged)[static_cast<std::size_t>(regex->view.bytes().data() - bytes->data()) + regex->view.bytes().size() - 1] ^=
      std::byte{1};

  EXPECT_FALSE(program::read(damaged).ok());
  const auto found = [](const std::shared_ptr<const std::vector<std::byte>>& of) {
    auto view = program::read(of, nullptr, program::Databases::kHashWhenSearched);
    if (!view.ok()) return std::string(view.error().text);
    auto loaded = LoadedProgram::load(std::move(*view), nullptr);
    if (!loaded.ok()) return std::string(loaded.error().text);
    MatchScratch scratch;
    if (!scratch.prepare(**loaded).ok()) return std::string("prepare");
    const program::RequestView request{"GET", "x", "/a", {}, {}, {}};
    const bool matched = decide(**loaded, 0, request, scratch).has_value();
    return std::string(matched ? "matched" : "refused") + " with " + std::to_string(scratch.faults()) + " faults";
  };
  EXPECT_EQ(found(bytes), "matched with 0 faults");
  EXPECT_EQ(found(damaged), "refused with 1 faults");
}

}  // namespace
}  // namespace edge::runtime
