#include "runtime/policy/request_edits.h"

#include <string>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "program/section_builder.h"

namespace edge::runtime {
namespace {

std::string written(const RequestEdits& edits) {
  static const program::SectionView kNoSection;
  std::string buffer(1024, '\0');
  net::http1::HeadWriter out(buffer.data(), buffer.size());
  edits.write(out, program::FieldEdits(kNoSection, {}, program::Side::kRequest, {}));
  return std::string(out.text());
}

TEST(RequestEdits, WhatIsSetReplacesWhatCame) {
  RequestEdits edits;
  EXPECT_TRUE(edits.none());
  edits.set("X-Auth-User", "alice");
  EXPECT_TRUE(edits.drops("x-auth-user"));
  EXPECT_TRUE(edits.drops("X_AUTH-User")) << "CGI and WSGI read both alike";
  EXPECT_FALSE(edits.drops("x-auth-users"));
  EXPECT_FALSE(edits.drops("xauthuser"));
  EXPECT_EQ(written(edits), "X-Auth-User: alice\r\n");
}

TEST(RequestEdits, WhatHasNoValueIsRemovedAllTheSame) {
  RequestEdits edits;
  edits.set("X-Auth-Name", "");
  edits.remove("X-Auth-Email");
  EXPECT_TRUE(edits.drops("x-auth-name"));
  EXPECT_TRUE(edits.drops("x_auth_email"));
  EXPECT_EQ(written(edits), "");
}

TEST(RequestEdits, AValueNeverEndsItsLine) {
  for (const std::string& value : {std::string("a\r\nX-Admin: 1"), std::string("a\nb"), std::string("a\0b", 3)}) {
    RequestEdits edits;
    edits.set("X-Auth-Name", value);
    EXPECT_TRUE(edits.drops("x-auth-name"));
    EXPECT_EQ(written(edits), "");
  }
}

TEST(RequestEdits, FramingAndTheProxysOwnFieldsAreNobodys) {
  RequestEdits edits;
  std::vector<std::string> names = {"X_Forwarded_For", "Content-length"};
  names.insert(names.end(), program::kReservedFields.begin(), program::kReservedFields.end());
  names.insert(names.end(), program::kProxyFields.begin(), program::kProxyFields.end());
  for (const std::string& name : names) {
    edits.set(name, "x");
    EXPECT_FALSE(edits.drops(name)) << name;
  }
  EXPECT_EQ(written(edits), "");
}

TEST(RequestEdits, TheLaterPolicyCounts) {
  RequestEdits first;
  first.set("X-Auth-User", "alice");
  first.set("X-Role", "reader");
  RequestEdits second;
  second.set("x-auth-user", "bob");
  second.remove("Authorization");
  first.join(std::move(second));
  EXPECT_EQ(written(first), "X-Role: reader\r\nx-auth-user: bob\r\n");
  EXPECT_TRUE(first.drops("authorization"));
  EXPECT_EQ(first.value("X-AUTH-USER"), "bob");
}

TEST(RequestEdits, WhatTheProxyStatesReplacesWhatWasStatedAndIsNobodyElses) {
  RequestEdits first;
  first.set("X-User", "alice");
  first.state("X-Forwarded-Client-Cert", "Hash=00");
  RequestEdits second;
  second.state("X-Forwarded-Client-Cert", "Hash=01");
  first.join(std::move(second));
  RequestEdits third;
  third.set("x_forwarded_client_cert", "Hash=02");
  third.remove("X-Forwarded-Client-Cert");
  third.set("X-Role", "reader");
  first.join(std::move(third));
  EXPECT_TRUE(first.drops("x_forwarded_client_cert"));
  EXPECT_EQ(written(first), "X-User: alice\r\nX-Forwarded-Client-Cert: Hash=01\r\nX-Role: reader\r\n");
}

}  // namespace
}  // namespace edge::runtime
