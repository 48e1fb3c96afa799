#include "controller/kube/object.h"

#include <bitset>
#include <charconv>
#include <utility>

#include <nlohmann/json.hpp>

#include "base/text/json_sax.h"

namespace edge::kube {
namespace {

/// Of one page; asked for are a few hundred.
constexpr std::size_t kMostItems = 100'000;

void append_quoted(std::string& out, std::string_view text) {
  static constexpr char kHex[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (c == '"' || c == '\\') {
      out += {'\\', c};
    } else if (byte < ' ') {
      out += {'\\', 'u', '0', '0', kHex[byte >> 4], kHex[byte & 15]};
    } else {
      out += c;
    }
  }
  out += '"';
}

/// A value that is neither object nor array: its JSON text and, for strings, their contents.
struct Scalar {
  std::string_view raw;
  const std::string* text = nullptr;
};

/// Writes one object from parser events, and extracts the fields that are needed of every object.
class ObjectSink {
 public:
  explicit ObjectSink(const ObjectReading& reading) : reading_(reading) {}

  void begin() {
    object_ = {};
    depth_ = skipped_at_ = 0;
    has_api_version_ = has_kind_ = initial_end_ = false;
    managed_depth_ = 0;
  }
  bool whole() const { return depth_ == 0; }
  bool initial_end() const { return initial_end_; }

  bool open(char bracket) {
    separate();
    if (depth_ == kMaxDepth) return false;
    ++depth_;
    filled_[depth_] = false;
    is_array_[depth_] = bracket == '[';
    write(bracket);
    if (depth_ == managed_depth_ + 2 && managed_depth_ != 0) manager_.clear(), managed_at_.clear();
    return true;
  }
  void close(char bracket) {
    write(bracket);
    if (managed_depth_ != 0 && depth_ == managed_depth_ + 2) note_manager();
    --depth_;
    if (managed_depth_ != 0 && depth_ == managed_depth_) managed_depth_ = 0;
    if (skipped_at_ != 0 && depth_ == skipped_at_) skipped_at_ = 0;
  }
  void key(const std::string& name) {
    if (depth_ == 1) section_ = name;
    if (depth_ == 2) field_ = name;
    if (depth_ == 2 && section_ == "metadata" && name == "managedFields") {
      managed_depth_ = depth_;
      if (!reading_.managed_fields) {
        skipped_at_ = depth_;
        return;
      }
    }
    key_ = name;
    if (skipped_at_ != 0) return;
    if (filled_[depth_]) object_.text += ',';
    filled_[depth_] = true;
    append_quoted(object_.text, name);
    object_.text += ':';
  }
  void scalar(const Scalar& value) {
    separate();
    if (skipped_at_ == 0) object_.text.append(value.raw);
    note(value);
    // One that is no array, as nobody writes it.
    if (skipped_at_ != 0 && depth_ == skipped_at_) skipped_at_ = managed_depth_ = 0;
  }
  Object take() {
    std::string own;
    if (!has_api_version_ && !reading_.api_version.empty()) {
      own += "\"apiVersion\":";
      append_quoted(own, reading_.api_version);
    }
    if (!has_kind_ && !reading_.kind.empty()) {
      own += own.empty() ? "\"kind\":" : ",\"kind\":";
      append_quoted(own, reading_.kind);
    }
    if (!own.empty()) object_.text.insert(1, object_.text.size() > 2 ? own + "," : own);
    object_.text.shrink_to_fit();
    return std::move(object_);
  }

 private:
  void write(char c) {
    if (skipped_at_ == 0) object_.text += c;
  }
  /// A comma before what follows in an array.
  void separate() {
    if (depth_ == 0 || skipped_at_ != 0 || !is_array_[depth_]) return;
    if (filled_[depth_]) object_.text += ',';
    filled_[depth_] = true;
  }
  void note(const Scalar& value) {
    if (managed_depth_ != 0) {
      if (depth_ != managed_depth_ + 2 || value.text == nullptr) return;
      if (key_ == "manager") manager_ = *value.text;
      if (key_ == "time") managed_at_ = *value.text;
    } else if (depth_ == 1) {
      has_api_version_ |= key_ == "apiVersion";
      has_kind_ |= key_ == "kind";
    } else if (section_ == "metadata" && depth_ == 2) {
      note_metadata(value);
    } else if (section_ == "metadata" && depth_ == 3 && field_ == "annotations") {
      initial_end_ |= key_ == "k8s.io/initial-events-end" && value.raw == "\"true\"";
    }
  }
  void note_metadata(const Scalar& value) {
    if (value.text == nullptr) {
      if (key_ == "generation") {
        std::from_chars(value.raw.data(), value.raw.data() + value.raw.size(), object_.generation);
      }
    } else if (key_ == "name") {
      object_.name = *value.text;
    } else if (key_ == "namespace") {
      object_.name_space = *value.text;
    } else if (key_ == "uid") {
      object_.uid = *value.text;
    } else if (key_ == "resourceVersion") {
      object_.resource_version = *value.text;
    }
  }
  /// The last one to write; RFC 3339 in UTC compares as text. Of the same second, the later in the list.
  void note_manager() {
    if (manager_.empty() || managed_at_ < object_.managed_at) return;
    object_.manager = manager_;
    object_.managed_at = managed_at_;
  }

  const ObjectReading& reading_;
  Object object_;
  std::size_t depth_ = 0;
  std::bitset<kMaxDepth + 1> filled_;
  std::bitset<kMaxDepth + 1> is_array_;
  /// Of the member that is left out; 0: none is.
  std::size_t skipped_at_ = 0;
  std::size_t managed_depth_ = 0;
  std::string section_, field_, key_;
  std::string manager_, managed_at_;
  bool has_api_version_ = false;
  bool has_kind_ = false;
  bool initial_end_ = false;
};

/// What the objects are wrapped in.
enum class Shape : std::uint8_t { kObject, kList, kEvent };

class Reader final : public nlohmann::json_sax<nlohmann::json> {
 public:
  Reader(Shape shape, const ObjectReading& reading) : shape_(shape), sink_(reading) {}

  bool null() override { return scalar({"null"}); }
  bool boolean(bool value) override { return scalar({value ? "true" : "false"}); }
  bool number_integer(number_integer_t value) override { return scalar({std::to_string(value)}); }
  bool number_unsigned(number_unsigned_t value) override { return scalar({std::to_string(value)}); }
  bool number_float(number_float_t, const string_t& text) override { return scalar({text}); }
  bool string(string_t& value) override {
    quoted_.clear();
    append_quoted(quoted_, value);
    return scalar({quoted_, &value});
  }
  bool binary(binary_t&) override { return false; }
  bool start_object(std::size_t) override { return open('{'); }
  bool end_object() override { return close('}'); }
  bool start_array(std::size_t) override { return open('['); }
  bool end_array() override { return close(']'); }
  bool key(string_t& name) override {
    if (inside_) {
      sink_.key(name);
    } else {
      (depth_ == 1 ? section_ : field_) = name;
    }
    return true;
  }
  bool parse_error(std::size_t, const std::string&, const nlohmann::detail::exception&) override { return false; }

  List list;
  std::string type;
  bool has_object = false;
  Object object;
  bool initial_end = false;
  bool has_items = false;
  const char* fault = nullptr;

 private:
  bool refuse(const char* why) {
    fault = why;
    return false;
  }
  /// Whether an object of the API begins here.
  bool begins_object() const {
    switch (shape_) {
      case Shape::kObject:
        return depth_ == 0;
      case Shape::kList:
        return depth_ == 2 && in_items_;
      case Shape::kEvent:
        return depth_ == 1 && section_ == "object";
    }
    return false;
  }
  bool open(char bracket) {
    if (!inside_ && begins_object()) {
      if (bracket != '{') return refuse("something that is no object");
      inside_ = true;
      sink_.begin();
    }
    if (inside_) return sink_.open(bracket) || refuse("nested too deeply");
    if (++depth_ > kMaxDepth) return refuse("nested too deeply");
    if (depth_ == 1 && bracket != '{') return refuse("something that is no object");
    if (shape_ == Shape::kList && depth_ == 2 && section_ == "items" && bracket == '[') in_items_ = has_items = true;
    return true;
  }
  bool close(char bracket) {
    if (inside_) {
      sink_.close(bracket);
      return !sink_.whole() || finish_object();
    }
    if (depth_ == 2) in_items_ = false;
    --depth_;
    return true;
  }
  bool finish_object() {
    inside_ = false;
    initial_end = sink_.initial_end();
    if (shape_ != Shape::kList) {
      object = sink_.take();
      has_object = true;
      return true;
    }
    list.items.push_back(sink_.take());
    if (list.items.back().name.empty()) return refuse("an object without a name");
    return list.items.size() <= kMostItems || refuse("too many objects");
  }
  bool scalar(const Scalar& value) {
    if (inside_) {
      sink_.scalar(value);
      return true;
    }
    // `items: null` is how Go writes an empty list.
    if (shape_ == Shape::kList && depth_ == 1 && section_ == "items") has_items = value.raw == "null";
    if (begins_object()) return refuse("something that is no object");
    if (shape_ == Shape::kEvent && depth_ == 1 && section_ == "type" && value.text != nullptr) type = *value.text;
    if (shape_ == Shape::kList && depth_ == 2 && section_ == "metadata") note_list(value);
    return true;
  }
  void note_list(const Scalar& value) {
    if (field_ == "resourceVersion" && value.text != nullptr) list.resource_version = *value.text;
    if (field_ == "continue" && value.text != nullptr) list.next = *value.text;
    if (field_ == "remainingItemCount" && value.text == nullptr) {
      std::from_chars(value.raw.data(), value.raw.data() + value.raw.size(), list.remaining);
    }
  }

  const Shape shape_;
  ObjectSink sink_;
  std::size_t depth_ = 0;
  bool inside_ = false;
  bool in_items_ = false;
  std::string section_, field_, quoted_;
};

Error malformed(const char* what, const char* fault) {
  return {ErrorCode::kInvalidArgument, std::string(what) + (fault != nullptr ? fault : "text that is not JSON")};
}

bool read(std::string_view text, Reader& reader) { return parse_events(text, reader) && reader.fault == nullptr; }

constexpr std::pair<std::string_view, EventType> kTypes[] = {{"ADDED", EventType::kAdded},
                                                             {"MODIFIED", EventType::kModified},
                                                             {"DELETED", EventType::kDeleted},
                                                             {"BOOKMARK", EventType::kBookmark},
                                                             {"ERROR", EventType::kError}};

}  // namespace

Result<Object> read_object(std::string_view text, const ObjectReading& reading) {
  Reader reader(Shape::kObject, reading);
  if (!read(text, reader) || !reader.has_object) return malformed("the server's object: ", reader.fault);
  return std::move(reader.object);
}

Result<List> read_list(std::string_view text, const ObjectReading& reading) {
  Reader reader(Shape::kList, reading);
  if (!read(text, reader)) return malformed("the server's list: ", reader.fault);
  if (!reader.has_items) return malformed("the server's list: ", "it has no items");
  return std::move(reader.list);
}

Result<WatchEvent> read_event(std::string_view text, const ObjectReading& reading) {
  Reader reader(Shape::kEvent, reading);
  if (!read(text, reader)) return malformed("an event of the watch: ", reader.fault);
  if (!reader.has_object) return malformed("an event of the watch: ", "it has no object");
  for (const auto& [word, type] : kTypes) {
    if (word != reader.type) continue;
    WatchEvent event{.type = type, .object = std::move(reader.object), .initial_end = reader.initial_end};
    if (type == EventType::kError) {
      event.failure = read_failure(500, event.object.text);
    } else if (type != EventType::kBookmark && event.object.name.empty()) {
      return malformed("an event of the watch: ", "an object without a name");
    }
    return event;
  }
  return malformed("an event of the watch: ", "its type is unknown");
}

}  // namespace edge::kube
