#include "controller/resource_api/objects/read.h"

#include <cstdint>

#include <nlohmann/json.hpp>

#include "base/text/json_sax.h"
#include "controller/resource_api/objects/words.h"

namespace edge::resource_api::objects {
namespace {

/// Builds the value during parsing, in one pass, and detects duplicate keys, of which the library's own parser silently
/// keeps the last.
class Reader : public nlohmann::json_sax<Json> {
 public:
  explicit Reader(std::vector<std::string>* duplicates) : duplicates_(duplicates) {}

  bool null() override { return put(nullptr); }
  bool boolean(bool value) override { return put(value); }
  bool number_integer(number_integer_t value) override { return put(value); }
  bool number_unsigned(number_unsigned_t value) override { return put(value); }
  bool number_float(number_float_t value, const string_t&) override { return put(value); }
  bool string(string_t& value) override { return put(std::move(value)); }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open(Json::object()); }
  bool start_array(std::size_t) override { return open(Json::array()); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool key(string_t& value) override {
    Frame& frame = frames_.back();
    if (duplicates_ != nullptr && frame.container->contains(value) && duplicates_->size() < kMaxCauses) {
      frame.key.clear();
      duplicates_->push_back(words({"duplicate field \"", below(path(), value), "\""}));
    }
    frame.key = std::move(value);
    return true;
  }

  bool parse_error(std::size_t position, const std::string& token, const nlohmann::detail::exception&) override {
    constexpr std::size_t kShown = 40;
    fault_ = words({"byte ", std::to_string(position), ": unexpected ", in_quotes(token.substr(0, kShown))});
    return false;
  }

  Json root;
  const std::string& fault() const { return fault_; }

 private:
  struct Frame {
    Json* container;
    std::string key;
  };

  /// Where the next value goes. nlohmann's maps and vectors keep addresses of what is being filled, as only the last
  /// element of the innermost one grows.
  Json* entry(Json value) {
    if (frames_.empty()) {
      root = std::move(value);
      return &root;
    }
    Frame& frame = frames_.back();
    if (frame.container->is_array()) {
      frame.container->push_back(std::move(value));
      return &frame.container->back();
    }
    Json& slot = (*frame.container)[frame.key];
    slot = std::move(value);
    return &slot;
  }

  bool put(Json value) {
    entry(std::move(value));
    return true;
  }

  bool open(Json empty) {
    if (frames_.size() >= kMaxDepth) {
      fault_ = words({"it nests deeper than ", std::to_string(kMaxDepth), " levels"});
      return false;
    }
    frames_.push_back({entry(std::move(empty)), {}});
    return true;
  }

  bool close() {
    frames_.pop_back();
    return true;
  }

  std::string path() const {
    std::string out;
    for (const Frame& frame : frames_) {
      if (frame.container->is_array()) {
        out = below(out, frame.container->size() - 1);
      } else if (!frame.key.empty()) {
        out = below(out, frame.key);
      }
    }
    return out;
  }

  std::vector<std::string>* duplicates_;
  std::vector<Frame> frames_;
  std::string fault_;
};

}  // namespace

Answer<Json> read_json(std::string_view text, std::vector<std::string>* duplicates) {
  Reader reader(duplicates);
  if (!parse_events(text, reader)) {
    return bad_request(words({"error decoding JSON: ", reader.fault()}));
  }
  return std::move(reader.root);
}

Answer<Json> read_object(std::string_view text, std::vector<std::string>* duplicates) {
  Answer<Json> value = read_json(text, duplicates);
  if (value && !value->is_object()) return bad_request("error decoding JSON: the body is not an object");
  return value;
}

}  // namespace edge::resource_api::objects
