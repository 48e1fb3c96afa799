// Shared by the readers of JSON documents (endpoints, secrets). They parse by events, so that untrusted documents use
// no more memory than what is stored. For the source files of this folder only: nlohmann/json appears in no other
// header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace edge::program {

/// Rejects every kind of value; a reader overrides those that it expects. The first error is kept.
class JsonEvents : public nlohmann::json_sax<nlohmann::json> {
 public:
  const std::string& fault() const { return fault_; }

  bool start_object(std::size_t) override { return unexpected("an object"); }
  bool start_array(std::size_t) override { return unexpected("a list"); }
  bool string(string_t&) override { return unexpected("a string"); }
  bool boolean(bool) override { return unexpected("a boolean"); }
  bool null() override { return unexpected("null"); }
  bool number_unsigned(number_unsigned_t) override { return unexpected("a number"); }
  bool number_integer(number_integer_t) override { return unexpected("a negative number"); }
  bool number_float(number_float_t, const string_t&) override { return unexpected("a fraction"); }
  bool binary(binary_t&) override { return unexpected("binary data"); }
  bool parse_error(std::size_t position, const std::string&, const nlohmann::detail::exception&) override {
    return fail("not JSON at byte " + std::to_string(position));
  }

 protected:
  /// Returns the key of the next value.
  const std::string& at() const { return key_; }
  /// \returns whether the key is `known`; otherwise reports an error.
  bool take_key(const std::string& name, bool known) {
    key_ = name;
    return known || fail("unknown field `" + name.substr(0, kShown) + "`");
  }
  bool fail(std::string what) {
    if (fault_.empty()) fault_ = std::move(what);
    return false;
  }
  bool unexpected(const char* what) {
    return fail(std::string("unexpected ") + what + (key_.empty() ? "" : " at `" + key_.substr(0, kShown) + "`"));
  }
  /// The most of an untrusted text that a message quotes.
  static constexpr std::size_t kShown = 64;

 private:
  std::string key_;
  std::string fault_;
};

}  // namespace edge::program
