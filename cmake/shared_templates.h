// Templates that most files use with the same arguments: compiled once a build (shared_templates.cc) and not once a
// file. Read with the precompiled headers alone (EdgePrecompiled.cmake), so no file includes it, and none depends on
// it.
//
// Chosen by what the weak functions of all objects take together, of which nlohmann/json had the most.
#pragma once

#include <cstddef>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

// `EDGE_SHARED` is `extern template` but where they are compiled.
#ifndef EDGE_SHARED
#define EDGE_SHARED extern template
#endif

EDGE_SHARED class std::basic_string<char>;
EDGE_SHARED class std::vector<char>;
EDGE_SHARED class std::vector<std::byte>;
EDGE_SHARED class std::vector<bool>;
EDGE_SHARED class std::vector<std::uint32_t>;
EDGE_SHARED class std::vector<std::string>;
EDGE_SHARED class std::vector<std::string_view>;
EDGE_SHARED class std::vector<std::pair<std::string, std::string>>;
EDGE_SHARED class std::set<std::string>;
EDGE_SHARED class std::set<std::string, std::less<>>;
EDGE_SHARED class std::map<std::string, std::string>;
EDGE_SHARED class std::map<std::string, std::string, std::less<>>;
EDGE_SHARED class std::unordered_map<std::string, std::string>;

EDGE_SHARED class nlohmann::basic_json<>;
EDGE_SHARED class nlohmann::basic_json<nlohmann::ordered_map>;
EDGE_SHARED class std::map<std::string, nlohmann::json, std::less<>>;
EDGE_SHARED class std::vector<nlohmann::json>;
EDGE_SHARED class std::vector<nlohmann::ordered_json>;
EDGE_SHARED class nlohmann::detail::serializer<nlohmann::json>;
EDGE_SHARED class nlohmann::detail::serializer<nlohmann::ordered_json>;
EDGE_SHARED class nlohmann::detail::parser<nlohmann::json, nlohmann::detail::iterator_input_adapter<const char*>>;
EDGE_SHARED class nlohmann::detail::parser<nlohmann::json,
                                           nlohmann::detail::iterator_input_adapter<std::string::const_iterator>>;

#undef EDGE_SHARED
