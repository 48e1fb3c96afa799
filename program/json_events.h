// What the readers of documents in JSON (endpoints, secrets) have in common. They take a document event by event, so
// that a hostile one costs no more memory than what is kept of it. For the sources of this folder alone: nlohmann/json
// appears in no other header.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <utility>

#include <nlohmann/json.hpp>

namespace edge::program {

/// Refuses every kind of value; a reader takes those that it has a place for. The first fault stays.
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
  /// The key that the next value belongs to.
  const std::string& at() const { return key_; }
  /// \returns whether it is `known`; otherwise that is the fault.
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
  /// As much of a hostile text as a message repeats.
  static constexpr std::size_t kShown = 64;

 private:
  std::string key_;
  std::string fault_;
};

}  // namespace edge::program
