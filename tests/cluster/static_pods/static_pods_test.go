// Package static_pods holds what `edgectl generate static-pod` prints against the code by which a kubelet reads its
// directory of static pods: decoding, defaults, validation, and that no object of the API is referred to.
package static_pods

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/record"
	"k8s.io/klog/v2/ktesting"
	"k8s.io/kubernetes/pkg/kubelet/config"
	kubetypes "k8s.io/kubernetes/pkg/kubelet/types"
)

const patience = 30 * time.Second

type noObserver struct{}

func (noObserver) ObservedPodOnWatch(*v1.Pod, time.Time) {}

// podsOf returns the pods that a kubelet makes of the files, by their names.
func podsOf(t *testing.T, directory string) map[string]*v1.Pod {
	t.Helper()
	logger, ctx := ktesting.NewTestContext(t)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	pods := config.NewPodConfig(record.NewFakeRecorder(100), noObserver{})
	config.NewSourceFile(logger, directory, "node-1", time.Hour, pods.Channel(ctx, kubetypes.FileSource))
	found := map[string]*v1.Pod{}
	select {
	case update := <-pods.Updates():
		for _, pod := range update.Pods {
			found[pod.Name] = pod
		}
	case <-ctx.Done():
		t.Fatal("the kubelet makes no pod of the files")
	}
	return found
}

func generate(t *testing.T, directory, daemon string, flags ...string) {
	t.Helper()
	arguments := append([]string{"generate", "static-pod", daemon}, flags...)
	text, err := exec.Command(os.Getenv("EDGECTL"), arguments...).Output()
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(directory, daemon+".yaml"), text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func TestAKubeletTakesEveryManifest(t *testing.T) {
	if os.Getenv("EDGECTL") == "" {
		t.Skip("EDGECTL names no program: run script/check-static-pods")
	}
	directory := t.TempDir()
	daemons := []string{"agent", "controller", "standalone"}
	for _, daemon := range daemons {
		generate(t, directory, daemon, "--image", "registry.example/edge-"+daemon+":0.1.0", "--config-path", "/srv/edge")
	}
	pods := podsOf(t, directory)
	for _, daemon := range daemons {
		pod := pods["edge-"+daemon+"-node-1"]
		if pod == nil {
			t.Errorf("the kubelet refuses the manifest of %s", daemon)
			continue
		}
		container := pod.Spec.Containers[0]
		if container.Image != "registry.example/edge-"+daemon+":0.1.0" {
			t.Errorf("%s: image %s", daemon, container.Image)
		}
		if pod.Spec.Volumes[0].HostPath == nil || pod.Spec.Volumes[0].HostPath.Path != "/srv/edge" {
			t.Errorf("%s: the directory is %v", daemon, pod.Spec.Volumes[0])
		}
		if !pod.Spec.HostNetwork {
			t.Errorf("%s has not the network of its machine", daemon)
		}
	}
}

func TestAKubeletRefusesWhatIsNoPod(t *testing.T) {
	directory := t.TempDir()
	text := "apiVersion: v1\nkind: Pod\nmetadata: {name: edge-agent}\nspec: {containers: []}\n"
	if err := os.WriteFile(filepath.Join(directory, "agent.yaml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if pods := podsOf(t, directory); len(pods) != 0 {
		t.Errorf("it takes %v", pods)
	}
}
