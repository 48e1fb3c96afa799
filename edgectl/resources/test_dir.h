// For tests: a folder that goes away with them.
#pragma once

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::edgectl {

class TestDir {
 public:
  TestDir() : path_((std::filesystem::temp_directory_path() / "edgectl-test-XXXXXX").string()) {
    EXPECT_NE(::mkdtemp(path_.data()), nullptr);
  }
  ~TestDir() { std::filesystem::remove_all(path_); }
  TestDir(const TestDir&) = delete;
  TestDir& operator=(const TestDir&) = delete;

  std::string operator/(const std::string& name) const { return path_ + "/" + name; }
  void put(const std::string& name, const std::string& text) const { std::ofstream(*this / name) << text; }
  std::string get(const std::string& name) const {
    std::ostringstream text;
    text << std::ifstream(*this / name).rdbuf();
    return text.str();
  }

 private:
  std::string path_;
};

}  // namespace edge::edgectl
