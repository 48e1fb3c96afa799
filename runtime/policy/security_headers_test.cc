#include "runtime/policy/security_headers.h"

#include <vector>

#include <gtest/gtest.h>

#include "runtime/policy/test_policy_request.h"

namespace edge::runtime {
namespace {

using testing::TestRequest;
using testing::TestSection;
using testing::written;

SecurityHeaders headers(std::uint32_t flags, std::string_view frame_options, std::string_view referrer) {
  TestSection section;
  const program::SecurityHeadersRecord record{31536000, section.string(frame_options), section.string(referrer), flags,
                                              0};
  return {section.view(), record};
}

TEST(SecurityHeadersPolicy, SaysStrictTransportOnlyWhereTransportIsStrict) {
  const SecurityHeaders policy =
      headers(program::kHsts | program::kHstsIncludeSubDomains | program::kHstsPreload | program::kNoSniff, "DENY",
              "no-referrer");
  const TestRequest request("GET / HTTP/1.1\nHost: a");
  AddedFields plain;
  policy.decorate(request.policy_request({}, false), plain);
  EXPECT_EQ(written(plain),
            "X-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n");
  EXPECT_FALSE(plain.replaces("Strict-Transport-Security"));
  AddedFields secure;
  policy.decorate(request.policy_request({}, true), secure);
  EXPECT_EQ(written(secure),
            "Strict-Transport-Security: max-age=31536000; includeSubDomains; preload\r\n"
            "X-Frame-Options: DENY\r\nX-Content-Type-Options: nosniff\r\nReferrer-Policy: no-referrer\r\n");
  EXPECT_TRUE(secure.replaces("strict-transport-SECURITY"));
}

TEST(SecurityHeadersPolicy, SaysOnlyWhatIsSet) {
  const SecurityHeaders policy = headers(program::kHsts, {}, {});
  AddedFields added;
  policy.decorate(TestRequest("GET / HTTP/1.1\nHost: a").policy_request({}, true), added);
  EXPECT_EQ(written(added), "Strict-Transport-Security: max-age=31536000\r\n");
  EXPECT_FALSE(added.replaces("x-frame-options"));
}

TEST(AddedFields, LeaveToFiltersWhatTheyEdit) {
  TestSection section;
  const std::vector<program::FilterRecord> filters = {
      {program::FilterOp::kResponseHeaderSet, 0, section.string("x-frame-options"), section.string("SAMEORIGIN")}};
  const program::SectionView view = section.view();
  const program::FieldEdits edits(view, filters, program::Side::kResponse, {});
  const SecurityHeaders policy = headers(program::kNoSniff, "DENY", {});
  AddedFields added;
  policy.decorate(TestRequest("GET / HTTP/1.1\nHost: a").policy_request(), added);
  char buffer[200];
  net::http1::HeadWriter out(buffer, sizeof(buffer));
  added.write(out, &edits);
  EXPECT_EQ(out.text(), "X-Content-Type-Options: nosniff\r\n");
}

TEST(FieldBlock, TakesNoValueThatEndsItsLine) {
  FieldBlock block;
  block.add("X-A", "1\r\nX-B: 2");
  EXPECT_TRUE(block.empty());
}

}  // namespace
}  // namespace edge::runtime
