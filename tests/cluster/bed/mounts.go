package main

import (
	"fmt"
	"os"
	"syscall"
)

// stateDir keeps all that a cluster writes: it is on a file system in memory, which is gone when the last process of this
// command's mount namespace is. `ip netns` keeps its namespaces beside it, in /run/netns.
const stateDir = "/run/edge-bed"

// ownMounts makes mounts that this command's processes alone see: /run in memory, and /proc by their process ids.
func ownMounts() error {
	if err := syscall.Mount("", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("mounts cannot be made private: %w", err)
	}
	if err := syscall.Mount("proc", "/proc", "proc", 0, ""); err != nil {
		return fmt.Errorf("/proc: %w", err)
	}
	if err := syscall.Mount("tmpfs", "/run", "tmpfs", 0, "mode=755"); err != nil {
		return fmt.Errorf("/run: %w", err)
	}
	for _, folder := range []string{stateDir, "/run/netns"} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return err
		}
	}
	return nil
}
