#include "runtime/observe/redact.h"

#include <algorithm>
#include <array>
#include <cstdint>
#include <tuple>
#include <utility>

#include "base/text/ascii.h"
#include "runtime/observe/access_log/copy.h"

namespace edge::runtime {
namespace {

constexpr std::size_t kMostRead = 8192;
constexpr std::string_view kRedacted = "***";
/// A longer name is none that a program looks for; it is cut.
constexpr std::size_t kMostName = 64;

/// Anywhere in a name, which stands in lower case and without `-`, `_` and `.`.
constexpr std::array<std::string_view, 16> kParts = {
    "token",     "secret", "passw", "pwd",  "credential", "apikey",     "signature", "session",
    "assertion", "saml",   "jwt",   "auth", "accesskey",  "privatekey", "otp",       "nonce"};
/// The whole name.
constexpr std::array<std::string_view, 12> kWhole = {"code", "state", "key",    "sig",          "sid",    "pass",
                                                     "pin",  "hmac",  "ticket", "codeverifier", "cookie", "sign"};

/// Which letters follow which at the beginning of sensitive words, one bit each: few names contain three of them in a
/// row.
struct Beginnings {
  std::array<std::uint32_t, 256> second{};
  std::array<std::uint32_t, 256> third{};
};
constexpr std::uint32_t bit_of(char letter) { return 1U << (static_cast<unsigned char>(letter) & 31U); }
template <std::size_t count>
constexpr Beginnings beginnings(const std::array<std::string_view, count>& words) {
  Beginnings of;
  for (const std::string_view word : words) {
    of.second[static_cast<unsigned char>(word[0])] |= bit_of(word[1]);
    of.third[static_cast<unsigned char>(word[1])] |= bit_of(word[2]);
  }
  return of;
}
constexpr Beginnings kPartsBegin = beginnings(kParts);
constexpr Beginnings kWholeBegin = beginnings(kWhole);

/// `plain` has three bytes at least, as every word has. False: it begins with none of them.
bool may_begin(const Beginnings& words, const char* plain) {
  return (words.second[static_cast<unsigned char>(plain[0])] & bit_of(plain[1])) != 0 &&
         (words.third[static_cast<unsigned char>(plain[1])] & bit_of(plain[2])) != 0;
}

/// What a byte of a name is compared as; 0: it is left out.
constexpr std::array<char, 256> kPlain = [] {
  std::array<char, 256> plain{};
  for (char c = '0'; c <= '9'; ++c) plain[static_cast<unsigned char>(c)] = c;
  for (char c = 'a'; c <= 'z'; ++c) {
    plain[static_cast<unsigned char>(c)] = c;
    plain[static_cast<unsigned char>(c - 'a' + 'A')] = c;
  }
  return plain;
}();

/// Decoded, in lower case, letters and digits alone: `Access%2DToken` is `accesstoken`.
std::size_t plain_name(std::string_view name, std::array<char, kMostName>& into) {
  std::size_t size = 0;
  for (std::size_t i = 0; i < name.size() && size < into.size(); ++i) {
    char c = name[i];
    if (c == '%' && i + 2 < name.size() && hex_digit(name[i + 1]) >= 0 && hex_digit(name[i + 2]) >= 0) {
      c = static_cast<char>(hex_digit(name[i + 1]) * 16 + hex_digit(name[i + 2]));
      i += 2;
    }
    into[size] = kPlain[static_cast<unsigned char>(c)];
    size += into[size] != 0 ? 1 : 0;
  }
  return size;
}

/// Output buffer that truncates at its end.
struct Room {
  std::span<char> left;

  void put(std::string_view text) {
    const std::size_t size = std::min(text.size(), left.size());
    copy_text(text.substr(0, size), left.data());
    left = left.subspan(size);
  }
};

/// Meaning of a byte in a query. `/`, `?` and `#` separate the part before a nested query in a value
/// (`next=/a?token=1`).
enum class Mark : std::uint8_t { kNone, kEquals, kParts, kEscape };
constexpr std::array<Mark, 256> kMarks = [] {
  std::array<Mark, 256> marks{};
  marks['='] = Mark::kEquals;
  marks['%'] = Mark::kEscape;
  // Some servers part parameters at `;` too.
  for (const unsigned char c : {'&', ';', '/', '?', '#'}) marks[c] = Mark::kParts;
  return marks;
}();

/// What the byte means that is escaped at `at`, once or more often (`%3D` and `%253D` are `=`), and where it ends.
std::pair<Mark, std::size_t> escaped(std::string_view query, std::size_t at) {
  std::size_t i = at + 1;
  while (query.substr(i, 2) == "25") i += 2;
  if (i + 1 >= query.size()) return {Mark::kNone, i};
  const int high = hex_digit(query[i]);
  const int low = hex_digit(query[i + 1]);
  if (high < 0 || low < 0) return {Mark::kNone, i};
  const auto byte = static_cast<unsigned char>(high * 16 + low);
  return {kMarks[byte], i + 2};
}

void put_redacted_query(std::string_view query, Room& out) {
  query = query.substr(0, kMostRead);
  std::size_t put = 0;   // what is before it is written
  std::size_t name = 0;  // where what may be a parameter's name begins
  for (std::size_t i = 0; i < query.size();) {
    Mark mark = kMarks[static_cast<unsigned char>(query[i])];
    std::size_t end = i + 1;
    if (mark == Mark::kEscape) std::tie(mark, end) = escaped(query, i);
    if (mark == Mark::kEquals && names_credential(query.substr(name, i - name))) {
      const std::size_t value = end;
      // To most servers a `;` is a part of the value, and all that is escaped is.
      end = std::min(query.find('&', value), query.size());
      // What is empty tells nothing.
      if (end != value) {
        out.put(query.substr(put, value - put));
        out.put(kRedacted);
        put = end;
      }
    }
    if (mark == Mark::kEquals || mark == Mark::kParts) name = end;
    i = end;
  }
  out.put(query.substr(put));
}

}  // namespace

bool names_credential(std::string_view name) {
  std::array<char, kMostName> room;
  const std::string_view plain(room.data(), plain_name(name, room));
  for (std::size_t i = 0; i + 2 < plain.size(); ++i) {
    if (!may_begin(kPartsBegin, plain.data() + i)) continue;
    const std::string_view rest = plain.substr(i);
    if (std::ranges::any_of(kParts, [&](std::string_view part) { return rest.starts_with(part); })) return true;
  }
  return plain.size() > 2 && may_begin(kWholeBegin, plain.data()) && std::ranges::find(kWhole, plain) != kWhole.end();
}

std::size_t write_redacted_query(std::string_view query, std::span<char> into) {
  Room out{into};
  put_redacted_query(query, out);
  return into.size() - out.left.size();
}

std::size_t write_redacted_url(std::string_view url, std::span<char> into) {
  Room out{into};
  url = url.substr(0, std::min(url.find('#'), kMostRead));
  // Before any path or query alone: one in a query is a value.
  const std::size_t slashes = url.find("//");
  if (slashes != std::string_view::npos && url.find_first_of("/?") == slashes) {
    const std::size_t begin = slashes + 2;
    const std::size_t end = std::min(url.find_first_of("/?", begin), url.size());
    const std::size_t user = url.substr(0, end).rfind('@');
    out.put(url.substr(0, begin));
    url.remove_prefix(user == std::string_view::npos || user < begin ? begin : user + 1);
  }
  const std::size_t query = url.find('?');
  out.put(url.substr(0, query));
  if (query != std::string_view::npos) {
    out.put("?");
    put_redacted_query(url.substr(query + 1), out);
  }
  return into.size() - out.left.size();
}

}  // namespace edge::runtime
