#include "runtime/shape/compress.h"

#include <algorithm>
#include <random>
#include <string>
#include <vector>

#include <brotli/decode.h>
#include <gtest/gtest.h>
#include <zlib.h>

namespace edge::runtime {
namespace {

using program::ContentCoding;
using Until = Encoder::Until;
constexpr ContentCoding kCodings[] = {ContentCoding::kGzip, ContentCoding::kBrotli};

std::string gunzip(std::string_view coded) {
  z_stream stream{};
  EXPECT_EQ(::inflateInit2(&stream, 15 + 16), Z_OK);
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(coded.data()));
  stream.avail_in = static_cast<uInt>(coded.size());
  std::string out;
  int result = Z_OK;
  while (result == Z_OK) {
    char room[8192];
    stream.next_out = reinterpret_cast<Bytef*>(room);
    stream.avail_out = sizeof(room);
    result = ::inflate(&stream, Z_SYNC_FLUSH);
    out.append(room, sizeof(room) - stream.avail_out);
  }
  EXPECT_TRUE(result == Z_STREAM_END || result == Z_BUF_ERROR) << result;
  ::inflateEnd(&stream);
  return out;
}

std::string unbrotli(std::string_view coded) {
  BrotliDecoderState* state = ::BrotliDecoderCreateInstance(nullptr, nullptr, nullptr);
  std::string out;
  auto* in = reinterpret_cast<const std::uint8_t*>(coded.data());
  std::size_t left = coded.size();
  BrotliDecoderResult result = BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT;
  while (result == BROTLI_DECODER_RESULT_NEEDS_MORE_OUTPUT) {
    std::uint8_t room[8192];
    std::uint8_t* at = room;
    std::size_t space = sizeof(room);
    result = ::BrotliDecoderDecompressStream(state, &left, &in, &space, &at, nullptr);
    out.append(reinterpret_cast<char*>(room), sizeof(room) - space);
  }
  EXPECT_NE(result, BROTLI_DECODER_RESULT_ERROR);
  ::BrotliDecoderDestroyInstance(state);
  return out;
}

std::string decoded(ContentCoding coding, std::string_view coded) {
  return coding == ContentCoding::kGzip ? gunzip(coded) : unbrotli(coded);
}

/// Text that compresses, with some that does not.
std::string sample(std::size_t size) {
  std::mt19937 random(7);
  std::string text;
  while (text.size() < size) {
    text += "<li class=\"item\">" + std::to_string(random() % 1000) + "</li>\n";
    if (random() % 50 == 0) {
      for (int i = 0; i < 300; ++i) text += static_cast<char>(random());
    }
  }
  text.resize(size);
  return text;
}

/// Feeds `text` in pieces and hands out `room` bytes at a time.
std::string coded(Encoder& encoder, std::string_view text, std::size_t piece, std::size_t room, Until between) {
  std::string out;
  std::vector<char> area(room);
  const auto run = [&](std::string_view in, Until until) {
    for (;;) {
      const Encoder::Step step = encoder.step(in, until, area);
      EXPECT_FALSE(step.failed);
      out.append(area.data(), step.made);
      in.remove_prefix(step.taken);
      if (step.done || step.failed) return;
    }
  };
  for (std::size_t at = 0; at < text.size(); at += piece) run(text.substr(at, piece), between);
  run({}, Until::kEnd);
  return out;
}

TEST(Compress, DecodesToWhatWentInHoweverTorn) {
  EncoderPool pool;
  for (const ContentCoding coding : kCodings) {
    for (const std::size_t size : {0, 1, 1000, 100'000}) {
      const std::string text = sample(size);
      for (const std::size_t piece : {1, 1500, 200'000}) {
        if (size / piece > 2000) continue;
        for (const std::size_t room : {16, 65536}) {
          const EncoderPool::Lease encoder = pool.take(coding, 6);
          ASSERT_NE(encoder, nullptr);
          EXPECT_EQ(decoded(coding, coded(*encoder, text, piece, room, Until::kMore)), text)
              << static_cast<int>(coding) << " " << size << " " << piece << " " << room;
        }
      }
    }
  }
}

TEST(Compress, EveryLevelCodes) {
  EncoderPool pool;
  const std::string text = sample(30'000);
  for (const ContentCoding coding : kCodings) {
    for (std::uint32_t level = 0; level <= 11; ++level) {
      const EncoderPool::Lease encoder = pool.take(coding, level);
      const std::string out = coded(*encoder, text, 4096, 65536, Until::kMore);
      EXPECT_LT(out.size(), text.size());
      EXPECT_EQ(decoded(coding, out), text);
    }
  }
}

TEST(Compress, AFlushBringsOutAllThatWentIn) {
  EncoderPool pool;
  for (const ContentCoding coding : kCodings) {
    const EncoderPool::Lease encoder = pool.take(coding, 6);
    std::string out;
    std::string so_far;
    std::vector<char> area(Encoder::kLeastRoom);
    for (const std::string_view part : {"one line\n", "another\n", "and one more\n"}) {
      so_far += part;
      std::string_view in = part;
      for (bool done = false; !done;) {
        const Encoder::Step step = encoder->step(in, Until::kFlush, area);
        ASSERT_FALSE(step.failed);
        out.append(area.data(), step.made);
        in.remove_prefix(step.taken);
        done = step.done;
      }
      EXPECT_EQ(decoded(coding, out), so_far);
    }
  }
}

TEST(Compress, EncodersAreUsedAgainAndKnowNothingOfTheBodyBefore) {
  EncoderPool pool;
  const std::string text = sample(20'000);
  Encoder* before = nullptr;
  std::string out;
  for (int i = 0; i < 3; ++i) {
    const EncoderPool::Lease encoder = pool.take(ContentCoding::kGzip, 4);
    if (before != nullptr) EXPECT_EQ(encoder.get(), before);
    before = encoder.get();
    // The second is given up in the middle.
    const std::string now = coded(*encoder, i == 1 ? text.substr(0, 99) : text, 700, 4096, Until::kMore);
    if (i == 2) EXPECT_EQ(now, out);
    if (i == 0) out = now;
  }
}

TEST(Compress, SoManyAtATime) {
  EncoderPool pool;
  std::vector<EncoderPool::Lease> leases;
  for (std::size_t i = 0; i < EncoderPool::kMostUnderWay; ++i) {
    leases.push_back(pool.take(kCodings[i % 2], 1));
    ASSERT_NE(leases.back(), nullptr);
  }
  EXPECT_EQ(pool.take(ContentCoding::kGzip, 1), nullptr);
  leases.pop_back();
  EXPECT_NE(pool.take(ContentCoding::kGzip, 1), nullptr);
  leases.clear();
  EXPECT_EQ(pool.under_way(), 0U);
}

}  // namespace
}  // namespace edge::runtime
