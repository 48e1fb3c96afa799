#include "runtime/shape/cache/answer.h"

#include <sys/random.h>

#include <algorithm>
#include <array>

#include "base/text/ascii.h"

namespace edge::runtime::cache {
namespace {

using net::http1::HeadWriter;

std::string_view name_of(std::string_view line) { return line.substr(0, line.find(':')); }

/// A line of a stored head that describes its body: no place in a 304 (RFC 9110 §15.4.5).
bool describes_body(std::string_view line) {
  static constexpr std::array<std::string_view, 4> kNames = {"content-type", "content-encoding", "content-language",
                                                             "content-range"};
  return std::any_of(kNames.begin(), kNames.end(),
                     [&](std::string_view known) { return equals_ignoring_case(name_of(line), known); });
}

std::string content_range(const Range& range, std::uint64_t size) {
  return "bytes " + std::to_string(range.first) + "-" + std::to_string(range.first + range.size - 1) + "/" +
         std::to_string(size);
}

/// What stands between parts: nobody who had a hand in what is stored may guess it. Empty when the system has nothing
/// to give.
std::string make_boundary() {
  std::array<unsigned char, 16> bytes;
  if (::getrandom(bytes.data(), bytes.size(), 0) != static_cast<ssize_t>(bytes.size())) return {};
  std::string text;
  for (const unsigned char byte : bytes) {
    text += "0123456789abcdef"[byte >> 4];
    text += "0123456789abcdef"[byte & 15];
  }
  return text;
}

/// Whether a stored head names a coding: a field for all parts would then say of the parts' frame what holds for their
/// bytes alone.
bool is_coded(std::string_view fields) {
  while (!fields.empty()) {
    if (equals_ignoring_case(name_of(next_line(fields)), "content-encoding")) return true;
  }
  return false;
}

// RFC 9110 §14.6: each part tells its type and its place.
AnswerBody in_parts(const std::vector<Range>& ranges, std::string_view boundary, std::string_view fields,
                    std::uint64_t size, HeadWriter& out) {
  std::string type;
  while (!fields.empty()) {
    const std::string_view line = next_line(fields);
    if (equals_ignoring_case(name_of(line), "content-type")) {
      type = line;
    } else {
      out.lines(line);
    }
  }
  out.field("Content-Type", "multipart/byteranges; boundary=" + std::string(boundary));
  AnswerBody body;
  std::string_view between;
  for (const Range& range : ranges) {
    std::string text(between);
    text.append("--").append(boundary).append(kLineEnd).append(type);
    text.append("Content-Range: ").append(content_range(range, size)).append("\r\n\r\n");
    body.add({std::move(text), range.first, range.size});
    between = kLineEnd;
  }
  body.add({"\r\n--" + std::string(boundary) + "--\r\n", 0, 0});
  return body;
}

AnswerBody in_part(const Range& range, std::string_view fields, std::uint64_t size, HeadWriter& out) {
  out.lines(fields);
  out.field("Content-Range", content_range(range, size));
  AnswerBody body;
  body.add({{}, range.first, range.size});
  return body;
}

}  // namespace

std::string_view AnswerBody::read(const Body& stored, std::uint64_t at) const {
  for (const Part& part : parts_) {
    if (at < part.text.size()) return std::string_view(part.text).substr(static_cast<std::size_t>(at));
    at -= part.text.size();
    if (at < part.size) return stored.at(part.first + at).substr(0, static_cast<std::size_t>(part.size - at));
    at -= part.size;
  }
  return {};
}

std::uint64_t AnswerBody::stored_at(std::uint64_t at) const {
  for (const Part& part : parts_) {
    if (at < part.text.size() + part.size) return part.first + at - part.text.size();
    at -= part.text.size() + part.size;
  }
  return at;
}

AnswerBody write_answer(const Entry& entry, const Request& request, Seconds now, HeadWriter& out) {
  const Representation stored = entry.representation();
  // Conditions are for what would succeed (RFC 9110 §13.2.1), ranges for a 200 (§14.2).
  const bool success = entry.status == 200;
  const auto age = static_cast<std::uint64_t>(entry.freshness.age(now));
  std::string_view fields = entry.head;
  const std::string_view first_line = next_line(fields);
  AnswerBody body;
  if (success && request.conditional() && not_modified(request, stored, now)) {
    out.status_line(304, net::http1::status_phrase(304));
    while (!fields.empty()) {
      const std::string_view line = next_line(fields);
      if (!describes_body(line)) out.lines(line);
    }
    out.field("Age", age);
    out.finish();
    return body;
  }
  RangeChoice choice;
  if (success && request.range.here()) choice = choose_ranges(request, stored, now);
  std::string boundary;
  if (choice.parts.size() > 1) {
    if (!is_coded(fields)) boundary = make_boundary();
    if (boundary.empty()) choice = {};
  }
  switch (choice.kind) {
    case RangeChoice::Kind::kWhole:
      out.lines(first_line);
      out.lines(fields);
      body.add({{}, 0, stored.size});
      break;
    case RangeChoice::Kind::kParts:
      out.status_line(206, net::http1::status_phrase(206));
      body = choice.parts.size() == 1 ? in_part(choice.parts.front(), fields, stored.size, out)
                                      : in_parts(choice.parts, boundary, fields, stored.size, out);
      break;
    case RangeChoice::Kind::kUnsatisfiable:
      out.status_line(416, net::http1::status_phrase(416));
      out.field("Content-Range", "bytes */" + std::to_string(stored.size));
      break;
  }
  out.field("Age", age);
  if (entry.status != 204) out.field("Content-Length", body.size());
  out.finish();
  return body;
}

}  // namespace edge::runtime::cache
