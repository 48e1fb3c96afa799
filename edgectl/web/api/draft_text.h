// The text of an object for editing, and back. What it shows has neither a status nor values that may be secret; what
// is read from it has these values again, taken from the stored object at the same place.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace edge::compiler::yaml {
class Node;
}

namespace edge::edgectl::web {

/// Returns the parts that somebody writes: apiVersion, kind, name, namespace, labels, annotations, and all but the
/// status. Without what was applied last.
nlohmann::json editable(const nlohmann::json& object);
/// Returns the same as YAML, without values that may be secret.
std::string draft_yaml(const nlohmann::json& object);
/// Returns a text that changes whenever what `editable` returns does, but not with the status. Says nothing of secret
/// values.
std::string version_of(const nlohmann::json& object);

/// Something wrong with a draft before it is compiled. Bytes [begin, end) of the text.
struct DraftFault {
  std::string message;
  std::uint32_t begin = 0, end = 0;
};

class Draft {
 public:
  /// Reads one document. `stored`: the object that it is to replace; null: a new one.
  Draft(std::string_view yaml, const nlohmann::json* stored);

  bool ok() const { return faults_.empty(); }
  const std::vector<DraftFault>& faults() const { return faults_; }
  /// With the secret values. Precondition for all that follows: ok().
  const nlohmann::json& object() const { return object_; }
  /// The draft's text with the secret values, as it is compiled.
  const std::string& text() const { return text_; }
  /// Returns the position in the draft of a byte of `text()`.
  std::uint32_t position(std::uint32_t of_text) const;
  /// Replaces the secret values in a JSON text by `<redacted>`.
  std::string hide(std::string json) const;

  const std::string& kind() const { return kind_; }
  const std::string& name() const { return name_; }
  const std::string& name_space() const { return name_space_; }

  /// Adds a fault at a field, such as `metadata.name`; at the whole text where it is absent.
  void refuse(std::string_view field, std::string message);

 private:
  /// Bytes of the draft that other bytes replace in `text_`.
  struct Moved {
    std::uint32_t begin, end;
    std::uint32_t text_begin, text_end;
  };
  struct Place {
    std::string field;
    std::uint32_t begin, end;
  };

  void read(std::string_view yaml, const nlohmann::json* stored);
  /// Sets kind and names, and where they stand.
  void note_fields(const compiler::yaml::Node& root);

  nlohmann::json object_;
  std::string text_;
  std::string kind_, name_, name_space_;
  std::vector<DraftFault> faults_;
  std::vector<Moved> moved_;  ///< ascending
  std::vector<Place> places_;
  std::vector<std::string> secrets_;
};

}  // namespace edge::edgectl::web
