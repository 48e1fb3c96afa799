#include "base/os/idle_memory.h"

#include <fstream>
#include <stdexcept>
#include <string>

#include <gtest/gtest.h>

#include "base/text/json.h"

namespace edge {
namespace {

std::size_t resident_file_kilobytes() {
  std::ifstream status("/proc/self/status");
  std::string word;
  std::size_t kilobytes = 0;
  while (status >> word) {
    if (word == "RssFile:" && status >> kilobytes) return kilobytes;
  }
  return 0;
}

int thrown(int value) {
  try {
    throw std::runtime_error(std::to_string(value));
  } catch (const std::exception& error) {
    return std::stoi(error.what());
  }
}

TEST(IdleMemory, CodeIsGivenBackAndRunsOn) {
  EXPECT_EQ(thrown(7), 7);
  EXPECT_FALSE(parse_json("{\"a\":[1,2]}").is_discarded());
  const std::size_t before = resident_file_kilobytes();
  release_idle_memory();
  const std::size_t after = resident_file_kilobytes();
  EXPECT_LT(after, before);
  EXPECT_EQ(thrown(8), 8);
  EXPECT_FALSE(parse_json("{\"a\":[1,2]}").is_discarded());
  release_idle_memory();
}

}  // namespace
}  // namespace edge
