#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "compiler/yaml/read.h"

namespace edge::compiler::yaml {
namespace {

namespace fs = std::filesystem;

/// A directory of its own, removed at the end.
class ReadSources : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "edge-read-XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    directory_ = name;
  }
  void TearDown() override { fs::remove_all(directory_); }

  std::string write(const std::string& name, const std::string& text) const {
    const fs::path path = directory_ / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return path.string();
  }
  std::string names(const std::vector<std::string>& paths) const {
    SourceMap sources;
    const Status status = read_sources(paths, sources);
    if (!status) return status.error().text;
    std::string all;
    for (std::uint32_t i = 0; i < sources.size(); ++i) {
      all += fs::path(sources[i].name()).lexically_relative(directory_).string() + "=" +
             std::string(sources[i].text()) + " ";
    }
    return all;
  }

  fs::path directory_;
};

TEST_F(ReadSources, TakesFilesAndDirectoriesSorted) {
  write("b.yaml", "b");
  write("a/z.yml", "z");
  write("a/c.json", "c");
  write("a/readme.md", "no");
  write("a/.hidden.yaml", "no");
  write("..data/b.yaml", "no");
  const std::string other = write("other.txt", "o");
  EXPECT_EQ(names({directory_.string()}), "a/c.json=c a/z.yml=z b.yaml=b ");
  EXPECT_EQ(names({other, (directory_ / "a").string()}), "other.txt=o a/c.json=c a/z.yml=z ");
}

TEST_F(ReadSources, ReadsAFileOnceThatSeveralArgumentsName) {
  const std::string file = write("a/x.yaml", "x");
  EXPECT_EQ(names({file, (directory_ / "a").string(), (directory_ / "a/../a/x.yaml").string()}), "a/x.yaml=x ");
}

TEST_F(ReadSources, FollowsTheLinksOfAMountedConfigMap) {
  write("..2026/x.yaml", "x");
  fs::create_directory_symlink("..2026", directory_ / "..data");
  fs::create_symlink("..data/x.yaml", directory_ / "x.yaml");
  EXPECT_EQ(names({directory_.string()}), "x.yaml=x ");
}

TEST_F(ReadSources, NamesThePathThatIsNotThere) {
  SourceMap sources;
  const Status status = read_sources({(directory_ / "none.yaml").string()}, sources);
  ASSERT_FALSE(status.ok());
  EXPECT_EQ(status.error().code, ErrorCode::kNotFound);
  EXPECT_NE(status.error().text.find("none.yaml"), std::string::npos);
}

TEST_F(ReadSources, TellsWhatCannotBeReadAndReadsTheRest) {
  write("a.yaml", "a");
  write("c/z.yaml", "z");
  fs::create_symlink("b.yaml", directory_ / "b.yaml");
  fs::create_symlink("nowhere.yaml", directory_ / "c/d.yaml");
  EXPECT_NE(names({directory_.string()}).find("b.yaml"), std::string::npos);
  SourceMap sources;
  std::vector<UnreadableSource> unreadable;
  ASSERT_TRUE(read_sources({directory_.string(), (directory_ / "none").string()}, sources, unreadable).ok());
  EXPECT_EQ(sources.size(), 2U);
  ASSERT_EQ(unreadable.size(), 3U);
  EXPECT_EQ(unreadable[0].path, (directory_ / "b.yaml").string());
  EXPECT_EQ(unreadable[1].path, (directory_ / "c/d.yaml").string());
  EXPECT_EQ(unreadable[2].path, (directory_ / "none").string());
  for (const UnreadableSource& one : unreadable) EXPECT_NE(one.why.text.find(one.path), std::string::npos);
}

TEST_F(ReadSources, FindsOutWithoutReadingWhetherThereIsAnything) {
  fs::create_directories(directory_ / "empty");
  fs::create_symlink("a.yaml", directory_ / "empty/.hidden.yaml");
  const auto fault = [&](const std::string& path) {
    const Status found = find_sources({path});
    return found ? std::string() : found.error().text;
  };
  EXPECT_NE(fault((directory_ / "empty").string()).find("empty: there is no *.yaml"), std::string::npos);
  EXPECT_NE(fault((directory_ / "none.yaml").string()).find("none.yaml: "), std::string::npos);
  fs::create_symlink("a.yaml", directory_ / "empty/a.yaml");
  EXPECT_NE(fault((directory_ / "empty").string()).find("a.yaml: "), std::string::npos);
  const std::string file = write("empty/b.yaml", "b");
  EXPECT_EQ(fault((directory_ / "empty").string()) + fault(file), "");
}

TEST_F(ReadSources, ReadsWhatTheFilesHoldTogether) {
  write("gateway.yaml",
        "apiVersion: edgeproxy.io/v1alpha1\nkind: ProxyGateway\nmetadata: {name: web}\n"
        "spec: {listeners: [{name: http, port: 80, protocol: HTTP}]}\n");
  write("routes/r.json",
        R"({"apiVersion": "edgeproxy.io/v1alpha1", "kind": "ProxyRoute", "metadata": {"name": "r"},
            "spec": {"parentRefs": [{"name": "web"}], "rules": [{"backendRefs": [{"name": "none"}]}]}})");
  SourceMap sources;
  ASSERT_TRUE(read_sources({directory_.string()}, sources).ok());
  ASSERT_EQ(sources.size(), 2U);
  EXPECT_NE(sources[0].text().find("ProxyGateway"), std::string::npos);
  EXPECT_NE(sources[1].text().find("ProxyRoute"), std::string::npos);
}

}  // namespace
}  // namespace edge::compiler::yaml
