#include "runtime/policy/auth/forward/ext_authz.h"

#include <algorithm>

#include "base/text/ascii.h"

namespace edge::runtime::auth {
namespace {

constexpr std::size_t kFrameHead = 5;
/// Of one answer; more is malformed.
constexpr std::size_t kMostHeaders = 128;

// ---- Protocol buffers: a tag is the field's number times eight, plus how its value is written
// ------------------------

enum Wire : unsigned { kVarint = 0, kFixed64 = 1, kBytes = 2, kFixed32 = 5 };

void put_varint(std::string& out, std::uint64_t value) {
  for (; value >= 0x80; value >>= 7) out += static_cast<char>(0x80 | (value & 0x7f));
  out += static_cast<char>(value);
}

void put_number(std::string& out, unsigned field, std::uint64_t value) {
  if (value == 0) return;
  put_varint(out, field << 3 | kVarint);
  put_varint(out, value);
}

void put_message(std::string& out, unsigned field, std::string_view message) {
  put_varint(out, field << 3 | kBytes);
  put_varint(out, message.size());
  out += message;
}

/// Whether bytes are UTF-8 (RFC 3629), as a `string` has to be.
bool is_utf8(std::string_view text) {
  for (std::size_t i = 0; i < text.size();) {
    const auto first = static_cast<std::uint8_t>(text[i]);
    const std::size_t more = first < 0x80   ? 0
                             : first < 0xc2 ? 4
                             : first < 0xe0 ? 1
                             : first < 0xf0 ? 2
                             : first < 0xf5 ? 3
                                            : 4;
    if (more == 4 || more >= text.size() - i) return false;
    std::uint32_t point = first & (more == 0 ? 0x7f : 0x3f >> more);
    for (std::size_t k = 1; k <= more; ++k) {
      const auto next = static_cast<std::uint8_t>(text[i + k]);
      if ((next & 0xc0) != 0x80) return false;
      point = point << 6 | (next & 0x3f);
    }
    const bool overlong = (more == 2 && point < 0x800) || (more == 3 && point < 0x10000);
    if (overlong || point > 0x10ffff || (point >= 0xd800 && point < 0xe000)) return false;
    i += more + 1;
  }
  return true;
}

void put_text(std::string& out, unsigned field, std::string_view text) {
  if (text.empty()) return;
  if (is_utf8(text)) return put_message(out, field, text);
  std::string readable(text);
  for (char& c : readable) {
    if (static_cast<std::uint8_t>(c) >= 0x80) c = '!';
  }
  put_message(out, field, readable);
}

std::optional<std::uint64_t> take_varint(std::string_view& in) {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64 && !in.empty(); shift += 7) {
    const auto byte = static_cast<std::uint8_t>(in.front());
    in.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 0x7f) << shift;
    if (byte < 0x80) return value;
  }
  return std::nullopt;
}

struct Value {
  std::uint64_t number = 0;
  std::string_view bytes;
};

/// Calls `visit(field, value)` for each field that is a number or bytes; it returns false for one that is malformed.
template <typename Visit>
bool each_field(std::string_view message, Visit visit) {
  while (!message.empty()) {
    const auto tag = take_varint(message);
    if (!tag || *tag >> 3 == 0 || *tag >> 3 > 0x1fffffff) return false;
    const auto field = static_cast<unsigned>(*tag >> 3);
    const auto wire = static_cast<unsigned>(*tag & 7);
    if (wire == kFixed64 || wire == kFixed32) {
      const std::size_t size = wire == kFixed64 ? 8 : 4;
      if (message.size() < size) return false;
      message.remove_prefix(size);
      continue;
    }
    if (wire != kVarint && wire != kBytes) return false;
    const auto number = take_varint(message);
    if (!number) return false;
    Value value{.number = *number, .bytes = {}};
    if (wire == kBytes) {
      if (*number > message.size()) return false;
      value.bytes = message.substr(0, static_cast<std::size_t>(*number));
      message.remove_prefix(value.bytes.size());
    }
    if (!visit(field, value)) return false;
  }
  return true;
}

/// The one message of a unary call; nullopt where there is another, or it is compressed.
std::optional<std::string_view> message_in(std::string_view body) {
  if (body.size() < kFrameHead || body.front() != 0) return std::nullopt;
  std::uint32_t size = 0;
  for (const char byte : body.substr(1, 4)) size = size << 8 | static_cast<std::uint8_t>(byte);
  body.remove_prefix(kFrameHead);
  if (body.size() != size) return std::nullopt;
  return body;
}

// ---- Messages
// --------------------------------------------------------------------------------------------------------

bool is_token(std::string_view name) {
  constexpr std::string_view kOthers = "!#$%&'*+-.^_`|~";
  return !name.empty() && std::ranges::all_of(name, [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           kOthers.find(c) != std::string_view::npos;
  });
}

bool is_line(std::string_view value) {
  return std::ranges::none_of(value, [](char c) {
    const auto byte = static_cast<std::uint8_t>(c);
    return (byte < 0x20 && byte != '\t') || byte == 0x7f;
  });
}

/// HeaderValueOption. Whether it is to be appended is not looked at: what a client sent is never kept beside it.
bool add_header(std::string_view message, std::vector<CheckedHeader>& out) {
  CheckedHeader header;
  const bool sound = each_field(message, [&](unsigned field, const Value& option) {
    if (field != 1) return true;
    return each_field(option.bytes, [&](unsigned part, const Value& value) {
      if (part == 1) header.name = ascii_lower(value.bytes);
      if (part == 2 || (part == 3 && !value.bytes.empty())) header.value = value.bytes;
      return true;
    });
  });
  if (!sound || out.size() >= kMostHeaders) return false;
  if (is_token(header.name) && is_line(header.value)) out.push_back(std::move(header));
  return true;
}

bool read_ok(std::string_view message, CheckResult& result) {
  return each_field(message, [&](unsigned field, const Value& value) {
    if (field == 2) return add_header(value.bytes, result.headers);
    if (field == 5) {
      if (result.removed.size() >= kMostHeaders) return false;
      if (is_token(value.bytes)) result.removed.push_back(ascii_lower(value.bytes));
    }
    if (field == 6) return add_header(value.bytes, result.response_headers);
    return true;
  });
}

bool read_denied(std::string_view message, CheckResult& result) {
  return each_field(message, [&](unsigned field, const Value& value) {
    if (field == 1) {
      return each_field(value.bytes, [&](unsigned part, const Value& code) {
        // What a client would take for success, or for no answer, is none.
        if (part == 1 && code.number >= 300 && code.number < 600 && code.number != 304) {
          result.status = static_cast<int>(code.number);
        }
        return true;
      });
    }
    if (field == 2) return add_header(value.bytes, result.headers);
    if (field == 3) result.body = value.bytes;
    return true;
  });
}

}  // namespace

std::string check_request(const CheckedRequest& request) {
  std::string http;
  put_text(http, 1, request.id);
  put_text(http, 2, request.method);
  for (const auto& [name, value] : request.headers) {
    std::string entry;
    put_text(entry, 1, name);
    put_text(entry, 2, value);
    put_message(http, 3, entry);
  }
  put_text(http, 4, request.path);
  put_text(http, 5, request.host);
  put_text(http, 6, request.scheme);
  put_number(http, 9, request.body.size());
  put_text(http, 10, request.protocol);
  if (!request.body.empty()) put_message(http, is_utf8(request.body) ? 11 : 12, request.body);

  std::string time;
  put_number(time, 1, static_cast<std::uint64_t>(request.unix_now));
  std::string of_request;
  put_message(of_request, 1, time);
  put_message(of_request, 2, http);

  std::string socket;
  put_text(socket, 2, request.source);
  std::string address;
  put_message(address, 1, socket);
  std::string source;
  put_message(source, 1, address);

  std::string attributes;
  put_message(attributes, 1, source);
  put_message(attributes, 4, of_request);
  std::string message;
  put_message(message, 1, attributes);

  std::string out(1, '\0');
  for (const unsigned shift : {24U, 16U, 8U, 0U}) out += static_cast<char>(message.size() >> shift);
  return out + message;
}

std::optional<CheckResult> read_check_response(std::string_view body, std::string_view grpc_status) {
  if (grpc_status != "0") return std::nullopt;
  const auto message = message_in(body);
  if (!message) return std::nullopt;
  CheckResult result;
  bool says = false;
  std::uint64_t code = 0;
  std::string_view ok;
  std::string_view denied;
  bool denies = false;
  const bool sound = each_field(*message, [&](unsigned field, const Value& value) {
    if (field == 1) {
      says = true;
      return each_field(value.bytes, [&](unsigned part, const Value& status) {
        if (part == 1) code = status.number;
        return true;
      });
    }
    if (field == 2) {
      denied = value.bytes;
      denies = true;
    }
    if (field == 3) ok = value.bytes;
    return true;
  });
  if (!sound || !says) return std::nullopt;
  result.passes = code == 0 && !denies;
  if (result.passes ? !read_ok(ok, result) : !read_denied(denied, result)) return std::nullopt;
  return result;
}

}  // namespace edge::runtime::auth
