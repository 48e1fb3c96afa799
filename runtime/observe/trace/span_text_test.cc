#include "runtime/observe/trace/span_text.h"

#include <gtest/gtest.h>

#include "base/text/protobuf_reader.h"

namespace edge::runtime::trace {
namespace {

/// A message as text: `number:value`, bytes that are a text as they are.
std::string dump(std::string_view message) {
  std::string text;
  ProtobufReader reader(message);
  while (const auto field = reader.next()) {
    if (!text.empty()) text += ' ';
    text += std::to_string(field->number) + ":";
    text += field->is_bytes ? std::to_string(field->bytes.size()) + "b" : std::to_string(field->value);
  }
  return reader.malformed() ? "malformed" : text;
}

/// The only field of a message that is bytes all the way down to `path`.
std::string_view inner(std::string_view message, std::initializer_list<unsigned> path) {
  for (const unsigned number : path) {
    ProtobufReader reader(message);
    std::string_view found;
    while (const auto field = reader.next()) {
      if (field->number == number) found = field->bytes;
    }
    message = found;
  }
  return message;
}

TEST(SpanText, IsAMessageOfOtlp) {
  Attributes attributes;
  attributes.add("http.request.method", "GET");
  attributes.add("http.response.status_code", 200);
  attributes.add("negative", -1);
  std::string out;
  append_span({{1, 2}, 3, 4, SpanKind::kServer, "GET", 1000, 2000, {}}, attributes, out);
  EXPECT_EQ(first_span_size(out), out.size());
  const std::string_view span = inner(out, {2});
  EXPECT_EQ(dump(span), "1:16b 2:8b 4:8b 5:3b 6:2 7:1000 8:2000 9:28b 9:32b 9:23b");
  EXPECT_EQ(inner(span, {1}), std::string_view("\0\0\0\0\0\0\0\1\0\0\0\0\0\0\0\2", 16));
  EXPECT_EQ(inner(span, {5}), "GET");
}

TEST(SpanText, TellsOfAnError) {
  std::string out;
  append_span({{1, 2}, 3, 0, SpanKind::kClient, "try", 1, 2, "connect-failed"}, {}, out);
  const std::string_view span = inner(out, {2});
  EXPECT_EQ(dump(span), "1:16b 2:8b 5:3b 6:3 7:1 8:2 15:18b");
  EXPECT_EQ(inner(span, {15, 2}), "connect-failed");
  EXPECT_EQ(dump(inner(span, {15})), "2:14b 3:2");
}

std::string as_attribute(std::string_view text) {
  Attributes attributes;
  attributes.add("a", text);
  return std::string(inner(attributes.bytes(), {9, 2, 1}));
}

TEST(SpanText, TextsAreBoundedAndUtf8) {
  EXPECT_EQ(as_attribute(""), "");
  EXPECT_EQ(as_attribute("plain"), "plain");
  EXPECT_EQ(as_attribute("gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80"),
            "gr\xc3\xbc\xc3\x9f, \xe2\x82\xac, \xf0\x9f\x98\x80");
  // Bytes alone, overlong forms, surrogates, beyond the last, torn ones (RFC 3629 §3).
  EXPECT_EQ(as_attribute("\xff"), "?");
  EXPECT_EQ(as_attribute("\xc0\xaf"), "??");
  EXPECT_EQ(as_attribute("\xe0\x80\xaf"), "???");
  EXPECT_EQ(as_attribute("\xed\xa0\x80"), "???");
  EXPECT_EQ(as_attribute("\xf4\x90\x80\x80"), "????");
  EXPECT_EQ(as_attribute("\xe2\x82"), "??");
  for (const std::size_t size : {std::size_t{127}, std::size_t{128}, Attributes::kMaxText - 1, Attributes::kMaxText}) {
    EXPECT_EQ(as_attribute(std::string(size, 'x')).size(), size);
  }
  EXPECT_EQ(as_attribute(std::string(Attributes::kMaxText + 1, 'x')).size(), Attributes::kMaxText);
  // Cut within a character: what is left of it is no character.
  EXPECT_EQ(as_attribute(std::string(Attributes::kMaxText - 1, 'x') + "\xc3\xbc").back(), '?');
}

TEST(SpanText, SpansStandOneBehindAnother) {
  std::string out;
  Attributes large;
  for (int i = 0; i < 40; ++i) large.add("a", std::string(500, 'x'));
  append_span({{1, 2}, 3, 4, SpanKind::kServer, "one", 1, 2, {}}, large, out);
  const std::size_t first = out.size();
  append_span({{1, 2}, 5, 4, SpanKind::kServer, "two", 1, 2, {}}, {}, out);
  EXPECT_EQ(first_span_size(out), first);
  EXPECT_EQ(first_span_size(std::string_view(out).substr(first)), out.size() - first);
}

}  // namespace
}  // namespace edge::runtime::trace
