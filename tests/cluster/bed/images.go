package main

import (
	"os"
	"path"
	"path/filepath"
	"strings"

	core "k8s.io/api/core/v1"
)

// programPath is the program in `bin` that stands for an image: that of its tag, in the folder named so, where there is
// one, so that a cluster can have several versions.
func programPath(bin string, container *core.Container) string {
	name := programOf(container)
	_, tag, tagged := strings.Cut(path.Base(container.Image), ":")
	if tagged && tag != "" {
		if own := filepath.Join(bin, tag, name); fileExists(own) {
			return own
		}
	}
	return filepath.Join(bin, name)
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// programOf names the program in --bin that stands for an image, without its registry, folder and tag, and the arguments
// that the image would give it. Images of this project are named as their programs are (edge-agent, edge-controller, ...).
func programOf(container *core.Container) string {
	name := path.Base(container.Image)
	name, _, _ = strings.Cut(name, "@")
	name, _, _ = strings.Cut(name, ":")
	if name == "echo-advanced" {
		return "echo-basic"
	}
	return name
}
