// The flags of a cluster that has a hub, which edge-controller and edge-standalone share.
#pragma once

#include <string>
#include <vector>

#include "cli/flags.h"

namespace edge::controller {

std::vector<cli::Flag> hub_flags();

/// Returns the words of a text between commas.
std::vector<std::string> listed_words(const std::string& text);

/// Into the members `hub` and `hub_join` of `options`: all that a relay has of them.
template <typename Options>
void read_hub_address(const cli::Arguments& arguments, Options& options) {
  if (arguments.has("hub")) options.hub = arguments.one("hub");
  if (arguments.has("hub-join")) options.hub_join = arguments.one("hub-join");
}

/// The same, and into `hub_kinds`, `hub_namespaces`, `hub_reads` and `hub_reads_traces`.
template <typename Options>
void read_hub_flags(const cli::Arguments& arguments, Options& options) {
  read_hub_address(arguments, options);
  if (arguments.has("hub-federation")) options.hub_kinds = listed_words(arguments.one("hub-federation"));
  if (arguments.has("hub-federation-namespaces")) {
    options.hub_namespaces = listed_words(arguments.one("hub-federation-namespaces"));
  }
  options.hub_reads = arguments.one("hub-reads") != "none";
  options.hub_reads_traces = arguments.one("hub-reads") == "traces";
}

}  // namespace edge::controller
