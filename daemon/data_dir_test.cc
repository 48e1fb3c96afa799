#include "daemon/data_dir.h"

#include <filesystem>
#include <fstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace edge::daemon {
namespace {

using testing::HasSubstr;

class DataDir : public testing::Test {
 protected:
  void SetUp() override {
    std::string pattern = testing::TempDir() + "data-dir.XXXXXX";
    ASSERT_NE(::mkdtemp(pattern.data()), nullptr);
    folder_ = pattern;
  }
  void TearDown() override {
    std::filesystem::permissions(folder_, std::filesystem::perms::owner_all);
    std::filesystem::remove_all(folder_);
  }
  static std::string fault(const std::string& path) {
    const Status status = prepare_data_dir(path);
    return status ? "" : status.error().text;
  }
  std::string folder_;
};

TEST_F(DataDir, IsCreatedForThisUserAlone) {
  EXPECT_EQ(fault(folder_), "");
  EXPECT_EQ(fault(folder_ + "/a/new/"), "");
  EXPECT_EQ(fault(folder_ + "/a/new"), "");
  EXPECT_EQ(std::filesystem::status(folder_ + "/a/new").permissions(), std::filesystem::perms::owner_all);
}

TEST_F(DataDir, ErrorsNameFlagAndDirectory) {
  std::ofstream(folder_ + "/file") << "x";
  EXPECT_EQ(fault(folder_ + "/file"), "--data-dir " + folder_ + "/file: it is no directory");
  EXPECT_THAT(fault(folder_ + "/file/below"), HasSubstr("--data-dir " + folder_ + "/file/below: "));
  EXPECT_THAT(fault(folder_ + "/file/below"), HasSubstr("Not a directory"));
}

TEST_F(DataDir, ErrorsSayWhoMayNotWrite) {
  if (::geteuid() == 0) GTEST_SKIP() << "root may write everywhere";
  std::filesystem::permissions(folder_, std::filesystem::perms::owner_read | std::filesystem::perms::owner_exec);
  EXPECT_THAT(fault(folder_), HasSubstr("may not write there"));
  EXPECT_THAT(fault(folder_ + "/new"), HasSubstr("cannot create it: Permission denied"));
}

}  // namespace
}  // namespace edge::daemon
