#include "runtime/shape/accept_encoding.h"

#include <initializer_list>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "net/http1/parse.h"

namespace edge::runtime {
namespace {

using program::ContentCoding;
constexpr ContentCoding kGzip = ContentCoding::kGzip;
constexpr ContentCoding kBrotli = ContentCoding::kBrotli;

std::string chosen(std::vector<ContentCoding> algorithms, std::initializer_list<std::string_view> values) {
  AcceptedCodings accepted;
  for (const std::string_view value : values) accepted.add(value);
  const auto coding = choose_coding(algorithms, accepted);
  return !coding ? "-" : *coding == kGzip ? "gzip" : "br";
}

TEST(AcceptEncoding, TheFirstConfiguredThatTheClientTakes) {
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"br, gzip"}), "gzip");
  EXPECT_EQ(chosen({kBrotli, kGzip}, {"gzip, br"}), "br");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"br"}), "br");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"deflate, zstd"}), "-");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {}), "-");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {""}), "-");
  EXPECT_EQ(chosen({}, {"gzip"}), "-");
  EXPECT_EQ(chosen({kGzip}, {"GZIP"}), "gzip");
  EXPECT_EQ(chosen({kGzip}, {"x-gzip"}), "gzip");
  EXPECT_EQ(chosen({kGzip}, {"gzipped, agzip"}), "-");
  // The order is the configuration's, also against the client's weights.
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"gzip;q=0.2, br;q=0.9"}), "gzip");
  EXPECT_EQ(chosen({kBrotli, kGzip}, {"deflate", "gzip"}), "gzip");
}

TEST(AcceptEncoding, ZeroRefuses) {
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"gzip;q=0, br"}), "br");
  EXPECT_EQ(chosen({kGzip}, {"gzip;q=0.000"}), "-");
  EXPECT_EQ(chosen({kGzip}, {"gzip;q=0.001"}), "gzip");
  EXPECT_EQ(chosen({kGzip}, {"gzip ; q=0 , br"}), "-");
}

TEST(AcceptEncoding, TheStarStandsForWhatIsNotNamed) {
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"*"}), "gzip");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"gzip;q=0, *"}), "br");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"*;q=0, br"}), "br");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"*;q=0"}), "-");
}

TEST(AcceptEncoding, ABodyAsItIsMayBeLikedBetter) {
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"identity, gzip;q=0.5"}), "-");
  EXPECT_EQ(chosen({kGzip, kBrotli}, {"identity;q=0.7, gzip;q=0.5, br;q=0.8"}), "br");
  EXPECT_EQ(chosen({kGzip}, {"identity, gzip"}), "gzip");
  EXPECT_EQ(chosen({kGzip}, {"identity;q=0, gzip;q=0.1"}), "gzip");
  EXPECT_EQ(chosen({kGzip}, {"identity;q=0"}), "-");
}

TEST(AcceptEncoding, AWeightThatIsNoneSelectsNothing) {
  for (const char* weight : {"2", "-1", "0.1234", "1.001", ".5", "1.1", "0,5", "abc", "", "0x1", "1e0"}) {
    EXPECT_EQ(chosen({kGzip}, {"gzip;q=" + std::string(weight)}), "-") << weight;
  }
  for (const char* weight : {"1", "1.", "1.0", "1.000", "0.5"}) {
    EXPECT_EQ(chosen({kGzip}, {"gzip;q=" + std::string(weight)}), "gzip") << weight;
  }
  for (const char* weight : {"0", "0.", "0.0"}) {
    EXPECT_EQ(chosen({kGzip}, {"gzip;q=" + std::string(weight)}), "-") << weight;
  }
  EXPECT_EQ(chosen({kGzip}, {";;,,;q=1,gzip;level=9;Q=1"}), "gzip");
}

TEST(AcceptEncoding, IsReadFromEveryFieldOfAHead) {
  net::http1::RequestHead head;
  net::http1::ParseHint hint;
  const std::string text =
      "GET / HTTP/1.1\r\nHost: a\r\nAccept-Encoding: zstd\r\nAccept: */*\r\nAccept-Encoding: br\r\n\r\n";
  ASSERT_EQ(net::http1::parse_request(text, {}, hint, head).state, net::http1::ParseState::kComplete);
  const AcceptedCodings accepted = AcceptedCodings::of(head.fields);
  EXPECT_EQ(accepted.weight(kBrotli), 1000);
  EXPECT_EQ(accepted.weight(kGzip), 0);
}

}  // namespace
}  // namespace edge::runtime
