// The chunked coding, torn everywhere.
#include "net/http1/chunked.h"

#include <string>
#include <utility>

#include <gtest/gtest.h>

#include "net/http1/write.h"

namespace edge::net::http1 {
namespace {

struct Decoded {
  ChunkedDecoder::State state = ChunkedDecoder::State::kMore;
  std::string body;
  std::string trailer;
  std::size_t consumed = 0;
  friend bool operator==(const Decoded&, const Decoded&) = default;
};

enum class Way : bool { kNext, kForward };

Decoded decode(std::string_view input, std::size_t piece, Way way = Way::kNext, const ChunkedLimits& limits = {}) {
  ChunkedDecoder decoder(limits);
  Decoded out;
  std::size_t end = 0;
  while (out.state == ChunkedDecoder::State::kMore && out.consumed < input.size()) {
    end = std::min(std::max(end, out.consumed) + (out.consumed == end ? piece : 0), input.size());
    const std::string_view available = input.substr(out.consumed, end - out.consumed);
    const auto step = way == Way::kNext ? decoder.next(available) : decoder.forward(available);
    out.state = step.state;
    out.body += step.data;
    out.consumed += step.consumed;
    EXPECT_TRUE(step.consumed > 0 || step.state != ChunkedDecoder::State::kMore);
  }
  out.trailer = decoder.trailer_lines();
  return out;
}

void expect_fault(std::string_view input, const ChunkedLimits& limits = {}) {
  for (std::size_t piece = 1; piece <= input.size(); ++piece) {
    EXPECT_EQ(decode(input, piece, Way::kNext, limits).state, ChunkedDecoder::State::kFault) << input;
    EXPECT_EQ(decode(input, piece, Way::kForward, limits).state, ChunkedDecoder::State::kFault) << input;
  }
}

TEST(Chunked, DecodesWhereverItIsTorn) {
  const std::string body = "5\r\nhello\r\n00A;ext=\"q;\"\r\n, world!!!\r\n0\r\nX-Sum: 1\r\nX-B:\r\n\r\n";
  for (std::size_t piece = 1; piece <= body.size() + 4; ++piece) {
    const Decoded out = decode(body + "next", piece);
    EXPECT_EQ(out, (Decoded{ChunkedDecoder::State::kEnd, "hello, world!!!", "X-Sum: 1\r\nX-B:\r\n", body.size()}));
  }
}

TEST(Chunked, ForwardsTheFramingUnchangedUpToTheTrailer) {
  const std::string lines = "5\r\nhello\r\n00A\r\n, world!!!\r\n0\r\n";
  const std::string body = lines + "X-Sum: 1\r\n\r\n";
  for (std::size_t piece = 1; piece <= body.size() + 4; ++piece) {
    const Decoded out = decode(body + "next", piece, Way::kForward);
    EXPECT_EQ(out, (Decoded{ChunkedDecoder::State::kEnd, lines, "X-Sum: 1\r\n", body.size()}));
  }
}

// Not every parser ends them where another does (RFC 9112 §7.1.1).
TEST(Chunked, ForwardsNoExtensions) {
  const std::string body = "5;a=\"b\"\r\nhello\r\n00A;\r\n, world!!!\r\n0;last;x=y\r\n\r\n";
  for (std::size_t piece = 1; piece <= body.size() + 4; ++piece) {
    const Decoded out = decode(body + "next", piece, Way::kForward);
    EXPECT_EQ(out, (Decoded{ChunkedDecoder::State::kEnd, "5\r\nhello\r\n00A\r\n, world!!!\r\n0\r\n", "", body.size()}));
  }
}

TEST(Chunked, CountsTheBody) {
  ChunkedDecoder decoder;
  decoder.forward("3\r\nabc\r\n2\r\nd");
  EXPECT_EQ(decoder.body_bytes(), 4u);
}

TEST(Chunked, EmptyBody) {
  const Decoded out = decode("0\r\n\r\n", 1);
  EXPECT_EQ(out.state, ChunkedDecoder::State::kEnd);
  EXPECT_EQ(out.body, "");
}

TEST(Chunked, RefusesBadSizes) {
  for (const std::string_view input :
       {"\r\n", "x\r\n", " 5\r\nhello\r\n", "5 \r\nhello\r\n", "5 ;a\r\nhello\r\n", "+5\r\nhello\r\n", "-1\r\n",
        "0x5\r\nhello\r\n", "5\nhello\r\n", "5\rhello\r\n", "5\r\r\nhello", "11111111111111111\r\n",
        "00000000000000005\r\nhello\r\n", "fffffffffffffff0\r\n", "ffffffffffffffff\r\n", "1000000000000000\r\n",
        "5,5\r\nhello\r\n", "5\t\r\nhello\r\n", ";a\r\n"}) {
    expect_fault(input);
  }
}

TEST(Chunked, TakesTheLargestSize) {
  EXPECT_EQ(decode("0fffffffffffffff\r\na", 100).state, ChunkedDecoder::State::kMore);
}

TEST(Chunked, RefusesBadDataEnds) {
  expect_fault("5\r\nhello0\r\n\r\n");
  expect_fault("5\r\nhello\n0\r\n\r\n");
  expect_fault("5\r\nhello\rX");
  expect_fault("5\r\nhello!\r\n0\r\n\r\n");
}

TEST(Chunked, RefusesBadExtensions) {
  expect_fault("5;a\nb\r\nhello\r\n");
  expect_fault("5;a\rb\r\nhello\r\n");
  expect_fault(std::string_view("5;a\0\r\nhello\r\n", 13));
  expect_fault("5;a\x01\r\nhello\r\n");
  expect_fault("5;\x80\r\nhello\r\n");
}

TEST(Chunked, BoundsExtensions) {
  ChunkedLimits limits;
  limits.max_extension = 4;
  limits.max_extensions = 10;
  EXPECT_EQ(decode("1;abcd\r\nx\r\n0\r\n\r\n", 3, Way::kNext, limits).state, ChunkedDecoder::State::kEnd);
  expect_fault("1;abcde\r\nx\r\n0\r\n\r\n", limits);
  EXPECT_EQ(decode("1;abcd\r\nx\r\n1;abcd\r\nx\r\n0;ab\r\n\r\n", 3, Way::kNext, limits).state,
            ChunkedDecoder::State::kEnd);
  expect_fault("1;abcd\r\nx\r\n1;abcd\r\nx\r\n0;abc\r\n\r\n", limits);
}

TEST(Chunked, RefusesBadTrailers) {
  for (const std::string_view lines : {"A : b\r\n", "A\r\n", ": b\r\n", "A: b\r\n c\r\n", " A: b\r\n", "A: b\n",
                                       "A: b\rc\r\n", "A: \x01\r\n", "\xe4: b\r\n", "\n"}) {
    expect_fault("0\r\n" + std::string(lines) + "\r\n");
  }
}

TEST(Chunked, RefusesTrailersWithAMeaningOfTheirOwn) {
  for (const std::string_view name : {"Content-Length", "transfer-encoding", "HOST", "Connection", "Authorization",
                                      "Cookie", "X-Forwarded-For", "Trailer", "Content-Type", "Set-Cookie"}) {
    expect_fault("0\r\n" + std::string(name) + ": 5\r\n\r\n");
  }
}

TEST(Chunked, BoundsTrailers) {
  ChunkedLimits limits;
  limits.max_trailer_bytes = 12;
  limits.max_trailer_fields = 2;
  EXPECT_EQ(decode("0\r\nA: b\r\nC: d\r\n\r\n", 1, Way::kNext, limits).state, ChunkedDecoder::State::kEnd);
  expect_fault("0\r\nA: b\r\nC: de\r\n\r\n", limits);
  limits.max_trailer_bytes = 100;
  expect_fault("0\r\nA: b\r\nC: d\r\nE: f\r\n\r\n", limits);
}

TEST(Chunked, KeepsTheTrailersThatAreAskedFor) {
  const auto kept = [](std::string_view input, std::string_view keep) {
    ChunkedDecoder decoder;
    EXPECT_EQ(decoder.next(input).state, ChunkedDecoder::State::kEnd) << input;
    decoder.keep_trailers([&](std::string_view name) { return keep.find(name) != std::string_view::npos; });
    return std::string(decoder.trailer_lines());
  };
  EXPECT_EQ(kept("0\r\n\r\n", "a"), "");
  EXPECT_EQ(kept("0\r\na: 1\r\nb:2\r\nc: 3\r\nb: 4\r\n\r\n", "b"), "b:2\r\nb: 4\r\n");
  EXPECT_EQ(kept("0\r\na: 1\r\nb:2\r\nc: 3\r\n\r\n", "ac"), "a: 1\r\nc: 3\r\n");
  EXPECT_EQ(kept("0\r\na: 1\r\nb:2\r\n\r\n", ""), "");
}

TEST(Chunked, ForwardsNothingOfAFaultyPiece) {
  ChunkedDecoder decoder;
  EXPECT_EQ(decoder.forward("5\r\nhello\r\nx").data, "");
}

TEST(Chunked, WritesChunkHeads) {
  for (const auto& [size, text] : {std::pair<std::uint64_t, std::string_view>{1, "1\r\n"},
                                   {255, "ff\r\n"},
                                   {0x1000, "1000\r\n"},
                                   {UINT64_MAX, "ffffffffffffffff\r\n"}}) {
    char out[kMaxChunkHead];
    EXPECT_EQ(std::string_view(out, write_chunk_head(size, out)), text);
  }
}

TEST(HeadWriter, WritesHeads) {
  char buffer[200];
  HeadWriter writer(buffer, sizeof(buffer));
  writer.request_line("GET", "/a", true, "b=c");
  writer.field("Host", "example.com");
  writer.field("Content-Length", std::uint64_t{18446744073709551615u});
  writer.field_appended("X-Forwarded-For", "192.0.2.1", "192.0.2.2");
  writer.lines("A:b\r\n");
  writer.finish();
  EXPECT_FALSE(writer.overflowed());
  EXPECT_EQ(writer.text(),
            "GET /a?b=c HTTP/1.1\r\nHost: example.com\r\nContent-Length: 18446744073709551615\r\n"
            "X-Forwarded-For: 192.0.2.1, 192.0.2.2\r\nA:b\r\n\r\n");
  HeadWriter status(buffer, sizeof(buffer));
  status.status_line(404, status_phrase(404));
  EXPECT_EQ(status.text(), "HTTP/1.1 404 Not Found\r\n");
}

TEST(HeadWriter, StopsWhenFull) {
  char buffer[16];
  HeadWriter writer(buffer, sizeof(buffer));
  writer.field("A", "123456789ab");
  EXPECT_FALSE(writer.overflowed());
  EXPECT_EQ(writer.size(), 16u);
  HeadWriter small(buffer, 15);
  small.field("A", "123456789ab");
  small.finish();
  EXPECT_TRUE(small.overflowed());
  EXPECT_EQ(small.size(), 0u);
}

}  // namespace
}  // namespace edge::net::http1
