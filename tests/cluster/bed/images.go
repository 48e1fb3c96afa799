package main

import (
	"path"
	"strings"

	core "k8s.io/api/core/v1"
)

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
