package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"

	core "k8s.io/api/core/v1"
)

// containerCommand is the first argument of this program when it is to become a container: `bed container SPEC`.
const containerCommand = "container"

// containerSpec is what a container's process needs to know of itself.
type containerSpec struct {
	Netns   string            `json:"netns"`
	Root    string            `json:"root"` // a folder that is this container's alone
	Program string            `json:"program"`
	Args    []string          `json:"args"`
	Env     []string          `json:"env"`
	Dir     string            `json:"dir,omitempty"`
	Mounts  map[string]string `json:"mounts"` // path in the container: folder or file outside
	Name    string            `json:"name"`
}

// containerProcess is the command of a container: this program, which enters the namespaces and becomes the container's.
func containerProcess(spec containerSpec) (*exec.Cmd, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	text, err := json.Marshal(spec)
	if err != nil {
		return nil, err
	}
	// `ip netns exec` mounts a /sys of the namespace in a mount namespace of the process's own.
	child := exec.Command("ip", "netns", "exec", spec.Netns, self, containerCommand, string(text))
	child.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	return child, nil
}

// runContainer does not return: the machine's files with the container's own above them, so that its volumes can be where
// it wants them and nothing it writes is left behind.
func runContainer(arguments []string) {
	fail := func(err error) {
		fmt.Fprintln(os.Stderr, "container:", err)
		os.Exit(128)
	}
	var spec containerSpec
	if len(arguments) != 1 {
		fail(fmt.Errorf("one argument is expected"))
	}
	if err := json.Unmarshal([]byte(arguments[0]), &spec); err != nil {
		fail(err)
	}
	root := filepath.Join(spec.Root, "root")
	for _, folder := range []string{root, filepath.Join(spec.Root, "upper"), filepath.Join(spec.Root, "work")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			fail(err)
		}
	}
	layers := fmt.Sprintf("lowerdir=/,upperdir=%s/upper,workdir=%s/work", spec.Root, spec.Root)
	if err := syscall.Mount("overlay", root, "overlay", 0, layers); err != nil {
		fail(fmt.Errorf("overlay: %w", err))
	}
	for _, folder := range []string{"/proc", "/sys", "/dev"} {
		if err := syscall.Mount(folder, root+folder, "", syscall.MS_BIND|syscall.MS_REC, ""); err != nil {
			fail(fmt.Errorf("%s: %w", folder, err))
		}
	}
	if err := syscall.Mount("tmpfs", root+"/tmp", "tmpfs", 0, "mode=1777"); err != nil {
		fail(fmt.Errorf("/tmp: %w", err))
	}
	// What is mounted on top of the machine's root is not in the overlay: the program is given as a volume is.
	mounts := map[string]string{"/container/" + filepath.Base(spec.Program): spec.Program}
	for where, what := range spec.Mounts {
		mounts[where] = what
	}
	for where, what := range mounts {
		info, err := os.Stat(what)
		if err != nil {
			fail(err)
		}
		target := filepath.Join(root, where)
		if info.IsDir() {
			err = os.MkdirAll(target, 0o755)
		} else if err = os.MkdirAll(filepath.Dir(target), 0o755); err == nil {
			var file *os.File
			if file, err = os.OpenFile(target, os.O_CREATE|os.O_RDONLY, 0o644); err == nil {
				err = file.Close()
			}
		}
		if err == nil {
			err = syscall.Mount(what, target, "", syscall.MS_BIND, "")
		}
		if err != nil {
			fail(fmt.Errorf("%s: %w", where, err))
		}
	}
	if err := syscall.Chroot(root); err != nil {
		fail(err)
	}
	if err := os.Chdir("/" + strings.TrimPrefix(spec.Dir, "/")); err != nil {
		fail(err)
	}
	program := "/container/" + filepath.Base(spec.Program)
	fail(syscall.Exec(program, append([]string{program}, spec.Args...), spec.Env))
}

// variables are the environment of a container of `pod`; what cannot be found is an error, as a real kubelet has it.
func variables(pod *core.Pod, container *core.Container, values valueSource) ([]string, error) {
	env := []string{"PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root", "HOSTNAME=" + pod.Name,
		"KUBERNETES_SERVICE_HOST=" + bridgeIP, "KUBERNETES_SERVICE_PORT=" + apiPort}
	known := map[string]string{}
	for _, variable := range container.Env {
		value := variable.Value
		if from := variable.ValueFrom; from != nil {
			var err error
			switch {
			case from.FieldRef != nil:
				value, err = podField(pod, from.FieldRef.FieldPath)
			case from.SecretKeyRef != nil:
				value, err = values.secretKey(pod.Namespace, from.SecretKeyRef.Name, from.SecretKeyRef.Key)
			case from.ConfigMapKeyRef != nil:
				value, err = values.configKey(pod.Namespace, from.ConfigMapKeyRef.Name, from.ConfigMapKeyRef.Key)
			default:
				err = fmt.Errorf("is of a source that is not known")
			}
			if err != nil {
				return nil, fmt.Errorf("variable %s: %w", variable.Name, err)
			}
		}
		known[variable.Name] = expand(value, known)
		env = append(env, variable.Name+"="+known[variable.Name])
	}
	return env, nil
}

// expand replaces $(NAME) by what is known.
func expand(text string, known map[string]string) string {
	for name, value := range known {
		text = strings.ReplaceAll(text, "$("+name+")", value)
	}
	return text
}

func podField(pod *core.Pod, field string) (string, error) {
	switch field {
	case "metadata.name":
		return pod.Name, nil
	case "metadata.namespace":
		return pod.Namespace, nil
	case "metadata.uid":
		return string(pod.UID), nil
	case "spec.nodeName":
		return pod.Spec.NodeName, nil
	case "spec.serviceAccountName":
		return pod.Spec.ServiceAccountName, nil
	case "status.podIP":
		return pod.Status.PodIP, nil
	case "status.hostIP":
		return pod.Status.HostIP, nil
	}
	return "", fmt.Errorf("field %s is not known", field)
}
