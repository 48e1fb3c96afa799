#include "program/filters.h"

#include <vector>

#include <gtest/gtest.h>

#include "program/section_builder.h"

namespace edge::program {
namespace {

/// A section that holds nothing but filters.
class Filters {
 public:
  struct Spec {
    FilterOp op;
    std::uint32_t detail;
    std::string name;
    std::string value;
  };
  explicit Filters(const std::vector<Spec>& specs) {
    SectionBuilder builder(sizeof(BackendsHeader));
    for (const Spec& spec : specs) {
      records_.push_back({spec.op, spec.detail, builder.string(spec.name), builder.string(spec.value)});
    }
    bytes_ = std::move(builder).finish(BackendsHeader{});
    section_ = SectionView(bytes_);
  }
  const SectionView& section() const { return section_; }
  const std::vector<FilterRecord>& records() const { return records_; }
  FieldEdits edits(Side side) const { return {section_, records_, side, "ID"}; }
  std::string written(Side side) const {
    struct {
      std::string text;
      void field(std::string_view name, std::string_view value) {
        text.append(name).append(": ").append(value).append("\r\n");
      }
    } out;
    edits(side).write(out);
    return out.text;
  }

 private:
  std::vector<std::byte> bytes_;
  SectionView section_;
  std::vector<FilterRecord> records_;
};

TEST(FieldEdits, SetReplacesAddStandsBesideRemoveDrops) {
  const Filters filters({{FilterOp::kRequestHeaderSet, 0, "x-a", "1"},
                         {FilterOp::kRequestHeaderAdd, 0, "x-b", "2"},
                         {FilterOp::kRequestHeaderRemove, 0, "x-c", ""},
                         {FilterOp::kResponseHeaderSet, 0, "x-d", "4"}});
  const FieldEdits edits = filters.edits(Side::kRequest);
  EXPECT_TRUE(edits.drops("X-A"));
  EXPECT_FALSE(edits.drops("X-B"));
  EXPECT_TRUE(edits.drops("x-C"));
  EXPECT_FALSE(edits.drops("X-D"));
  EXPECT_EQ(filters.written(Side::kRequest), "x-a: 1\r\nx-b: 2\r\n");
  EXPECT_EQ(filters.written(Side::kResponse), "x-d: 4\r\n");
}

TEST(FieldEdits, LaterOnesSeeWhatEarlierOnesDid) {
  const Filters filters({{FilterOp::kRequestHeaderAdd, 0, "x-a", "1"},
                         {FilterOp::kRequestHeaderSet, 0, "x-a", "2"},
                         {FilterOp::kRequestHeaderAdd, 0, "x-a", "3"},
                         {FilterOp::kRequestHeaderAdd, 0, "x-b", "4"},
                         {FilterOp::kRequestHeaderRemove, 0, "x-b", ""}});
  EXPECT_EQ(filters.written(Side::kRequest), "x-a: 2\r\nx-a: 3\r\n");
}

TEST(FieldEdits, UnderscoresAndCaseMakeNoOtherField) {
  const Filters filters({{FilterOp::kRequestHeaderSet, 0, "x-user_name", "1"},
                         {FilterOp::kRequestHeaderRemove, 0, "x-internal-role", ""},
                         {FilterOp::kRequestHeaderAdd, 0, "x_b", "2"},
                         {FilterOp::kRequestHeaderRemove, 0, "x-b", ""},
                         {FilterOp::kRequestHeaderSet, 0, "content_length", "9"}});
  const FieldEdits edits = filters.edits(Side::kRequest);
  for (const char* name : {"X-User-Name", "x_user_name", "X-User_Name"}) EXPECT_TRUE(edits.drops(name)) << name;
  for (const char* name : {"X_Internal_Role", "x-internal_role"}) EXPECT_TRUE(edits.drops(name)) << name;
  EXPECT_TRUE(edits.names("X-USER-NAME"));
  EXPECT_FALSE(edits.drops("x-internal-role2"));
  EXPECT_FALSE(edits.drops("xinternalrole"));
  EXPECT_EQ(filters.written(Side::kRequest), "x-user_name: 1\r\n");
}

TEST(FieldEdits, TheRequestIdStandsWhereItsTokenDoes) {
  const Filters filters({{FilterOp::kRequestHeaderSet, 0, "x-id", "<%REQ_ID%|%REQ_ID%>"}});
  EXPECT_EQ(filters.written(Side::kRequest), "x-id: <ID|ID>\r\n");
}

TEST(FieldEdits, FramingCannotBeEdited) {
  for (const char* name : {"content-length", "transfer-encoding", "connection", "host", "te", "upgrade"}) {
    const Filters filters({{FilterOp::kRequestHeaderSet, 0, name, "1"}, {FilterOp::kResponseHeaderSet, 0, name, "1"}});
    EXPECT_FALSE(filters.edits(Side::kRequest).drops(name)) << name;
    EXPECT_EQ(filters.written(Side::kRequest), "") << name;
    EXPECT_EQ(filters.written(Side::kResponse), "") << name;
  }
}

TEST(ReplacePrefix, KeepsSegmentsApart) {
  EXPECT_EQ(replace_prefix("/old/x", 4, "/new"), "/new/x");
  EXPECT_EQ(replace_prefix("/old", 4, "/new"), "/new");
  EXPECT_EQ(replace_prefix("/old/", 4, "/new"), "/new/");
  EXPECT_EQ(replace_prefix("/old/x", 4, "/new/"), "/new/x");
  EXPECT_EQ(replace_prefix("/old/x", 4, "/"), "/x");
  EXPECT_EQ(replace_prefix("/old", 4, "/"), "/");
  EXPECT_EQ(replace_prefix("/old/x", 4, ""), "/x");
  EXPECT_EQ(replace_prefix("/old", 4, ""), "/");
  EXPECT_EQ(replace_prefix("/x", 1, "/new"), "/new/x");
  EXPECT_EQ(replace_prefix("/x", 0, "/new"), "/new/x");
  EXPECT_EQ(replace_prefix("/", 9, "/new"), "/new");
}

std::string location(const std::vector<Filters::Spec>& specs, const std::string& authority = "a.example:8080") {
  const Filters filters(specs);
  const auto to = redirect(filters.section(), filters.records(), {"http", authority, "/old/x", "q=1", true});
  return to ? std::to_string(to->status) + " " + to->location : "none";
}

TEST(Redirect, BuildsTheLocation) {
  const Filters::Spec found{FilterOp::kRedirect, 302, "", ""};
  EXPECT_EQ(location({}), "none");
  EXPECT_EQ(location({found}), "302 http://a.example:8080/old/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectScheme, 0, "", "https"}, {FilterOp::kRedirect, 301, "", ""}}),
            "301 https://a.example/old/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectHost, 0, "", "b.example"}, found}), "302 http://b.example:8080/old/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectPrefix, 4, "", "/new"}, found}), "302 http://a.example:8080/new/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectFullPath, 0, "", "/z"}, found}), "302 http://a.example:8080/z?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirect, 308 | 8443u << 16, "", ""}}), "308 http://a.example:8443/old/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectScheme, 0, "", "https"}, {FilterOp::kRedirect, 302 | 443u << 16, "", ""}}),
            "302 https://a.example/old/x?q=1");
  EXPECT_EQ(location({found}, "[::1]:8080"), "302 http://[::1]:8080/old/x?q=1");
  EXPECT_EQ(location({{FilterOp::kRedirectHost, 0, "", "b"}, found}, "[::1]"), "302 http://b/old/x?q=1");
}

}  // namespace
}  // namespace edge::program
