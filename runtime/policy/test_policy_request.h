// For tests of policies: requests from text, and a section that holds one record's settings.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/http1/parse.h"
#include "program/section_builder.h"
#include "runtime/policy/added_fields.h"
#include "runtime/policy/policy_request.h"

namespace edge::runtime::testing {

/// A request whose head is `lines`, each ended by LF alone here.
class TestRequest {
 public:
  explicit TestRequest(std::string_view lines, std::string_view source = "192.0.2.1") : source_(*parse_ip(source)) {
    for (const char c : lines) text_ += c == '\n' ? std::string("\r\n") : std::string(1, c);
    text_ += "\r\n\r\n";
    net::http1::ParseHint hint;
    complete_ = net::http1::parse_request(text_, {}, hint, head_).state == net::http1::ParseState::kComplete;
  }

  bool complete() const { return complete_; }
  PolicyRequest policy_request(net::Time now = {}, bool secure = false) const {
    return {head_, "shop.example", head_.path, source_, secure, now};
  }

 private:
  std::string text_;
  IpAddress source_;
  net::http1::RequestHead head_;
  bool complete_ = false;
};

/// The bytes of a policies section that has nothing but what the settings point to.
class TestSection {
 public:
  program::StringRef string(std::string_view text) { return builder_.string(text); }
  program::ArrayRef<program::StringRef> strings(const std::vector<std::string>& texts) {
    std::vector<program::StringRef> refs;
    for (const std::string& text : texts) refs.push_back(builder_.string(text));
    return builder_.array(refs);
  }
  template <typename Record>
  program::ArrayRef<Record> array(const std::vector<Record>& records) {
    return builder_.array(records);
  }
  program::SectionView view() {
    bytes_ = std::move(builder_).finish(program::PoliciesHeader{});
    return program::SectionView(bytes_);
  }

 private:
  program::SectionBuilder builder_{sizeof(program::PoliciesHeader)};
  std::vector<std::byte> bytes_;
};

inline std::string written(const AddedFields& added) {
  std::string buffer(4096, '\0');
  net::http1::HeadWriter out(buffer.data(), buffer.size());
  added.write(out, nullptr);
  return std::string(out.text());
}

}  // namespace edge::runtime::testing
