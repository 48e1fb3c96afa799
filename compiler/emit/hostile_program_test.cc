// Programs whose records were changed and hashed again: what `read` lets through must do no harm. The sanitizers of the
// asan preset give this test its teeth.
#include <cstring>
#include <random>

#include <gmock/gmock.h>

#include "compiler/sample_config.h"
#include "program/dump/dump.h"
#include "program/evaluate/evaluate.h"
#include "program/test_program.h"

namespace edge::compiler {
namespace {

using Bytes = std::vector<std::byte>;

/// Reads, and uses all of what was read. \returns whether it was read.
bool use(const Bytes& bytes) {
  const auto program = program::read(std::make_shared<const Bytes>(bytes));
  if (!program) {
    EXPECT_NE(program.error().text, "");
    return false;
  }
  program::dump_routes(*program);
  program::dump_routes_json(*program);
  program::dump_sections(*program);
  const auto regex = [](std::string_view, std::string_view subject) { return subject.size() % 2 == 0; };
  const program::SectionView& listeners = program->listeners().view;
  const auto binds = listeners.array(listeners.header<program::ListenersHeader>().binds);
  const Field headers[] = {{"x-env", "prod"}, {"accept", "json"}, {"a", "c"}};
  for (std::uint32_t bind = 0; bind < binds.size(); ++bind) {
    for (const char* host : {"", "api.example.com", "x.y.example.com", "other.org"}) {
      for (const char* path : {"/", "*", "/api/health", "/v1/x", "/old", "/a/b/c"})
        program::evaluate(*program, bind, {"POST", host, path, "debug=1", headers, {}}, regex);
    }
  }
  return true;
}

TEST(HostileProgram, EveryChangedByteIsRefusedOrHarmless) {
  const Bytes good = sample::tables_only(sample::one_of_everything());
  ASSERT_TRUE(use(good));
  std::mt19937 random(1);
  std::size_t refused = 0;
  std::size_t tried = 0;
  for (std::size_t i = 0; i < good.size(); ++i) {
    Bytes bytes = good;
    bytes[i] ^= static_cast<std::byte>(1u << (random() % 8));
    program::sample::reseal(bytes);
    refused += !use(bytes);
    ++tried;
  }
  EXPECT_GT(refused, tried / 4);
}

TEST(HostileProgram, ManyChangedWordsAreRefusedOrHarmless) {
  const Bytes good = sample::tables_only(sample::one_of_everything());
  constexpr std::uint32_t kOdd[] = {0, 1, 2, 0x7fffffff, 0x80000000, 0xfffffffe, 0xffffffff, 64, 1000};
  std::mt19937 random(2);
  for (int round = 0; round < 3000; ++round) {
    Bytes bytes = good;
    for (std::size_t change = 0; change <= random() % 3; ++change) {
      const std::size_t at = random() % (bytes.size() / 4) * 4;
      const std::uint32_t value = random() % 2 == 0 ? kOdd[random() % std::size(kOdd)] : random() % 4096;
      std::memcpy(bytes.data() + at, &value, sizeof value);
    }
    program::sample::reseal(bytes);
    use(bytes);
  }
}

}  // namespace
}  // namespace edge::compiler
