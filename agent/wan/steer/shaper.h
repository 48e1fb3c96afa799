// Bandwidth of links: what a tunnel may send, and in which order its classes of traffic do, by the program tc.
//
// A link's bandwidth is shared by the tunnels over it. Packets are put in order before they are encrypted, as nobody
// can tell them apart afterwards.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace edge::agent::wan {

struct ShapedDevice {
  std::string name;
  int index = 0;           ///< of the kernel
  std::uint64_t kbps = 0;  ///< kilobits a second of its packets; 0: it is not shaped
  friend bool operator==(const ShapedDevice&, const ShapedDevice&) = default;
};

/// Classes of HTB: a share each that is theirs, and the rest in the order of voice, default and bulk.
std::string classes_text(const ShapedDevice& device);
/// One rate for all, where the kernel has no HTB.
std::string rate_text(const ShapedDevice& device);

/// For one thread, in whose network namespace it works. What it sets goes with the devices.
class Shaper {
 public:
  /// \returns what is not as it should be, a sentence each.
  std::vector<std::string> apply(const std::vector<ShapedDevice>& devices);

 private:
  std::map<std::string, ShapedDevice> applied_;
  bool without_classes_ = false;  ///< this kernel has no HTB
  std::vector<std::string> faults_;
};

}  // namespace edge::agent::wan
