package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
)

// valueSource reads what pods refer to.
type valueSource struct {
	ctx    context.Context
	client kubernetes.Interface
}

func (values valueSource) secretKey(namespace, name, key string) (string, error) {
	secret, err := values.client.CoreV1().Secrets(namespace).Get(values.ctx, name, meta.GetOptions{})
	if err != nil {
		return "", err
	}
	value, found := secret.Data[key]
	if !found {
		return "", fmt.Errorf("secret %s has no key %s", name, key)
	}
	return string(value), nil
}

func (values valueSource) configKey(namespace, name, key string) (string, error) {
	config, err := values.client.CoreV1().ConfigMaps(namespace).Get(values.ctx, name, meta.GetOptions{})
	if err != nil {
		return "", err
	}
	value, found := config.Data[key]
	if !found {
		return "", fmt.Errorf("config map %s has no key %s", name, key)
	}
	return value, nil
}

// write makes the volumes of `pod` below `folder` and returns where each is. A hostPath is a folder of the pod's node, a
// claim one of all nodes, as a volume with ReadWriteMany.
func (values valueSource) write(pod *core.Pod, folder string) (map[string]string, error) {
	paths := map[string]string{}
	for _, volume := range pod.Spec.Volumes {
		path := filepath.Join(folder, volume.Name)
		if volume.HostPath != nil {
			path = filepath.Join(stateDir, "nodes", pod.Spec.NodeName, filepath.Clean("/"+volume.HostPath.Path))
		}
		if volume.PersistentVolumeClaim != nil {
			path = filepath.Join(stateDir, "claims", pod.Namespace, filepath.Clean("/"+volume.PersistentVolumeClaim.ClaimName))
		}
		if err := os.MkdirAll(path, 0o755); err != nil {
			return nil, err
		}
		files, items, optional, err := values.files(pod, &volume)
		if err != nil && !optional {
			return nil, fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		if err := writeFiles(path, files, items); err != nil {
			return nil, fmt.Errorf("volume %s: %w", volume.Name, err)
		}
		paths[volume.Name] = path
	}
	return paths, nil
}

func (values valueSource) files(pod *core.Pod, volume *core.Volume) (map[string][]byte, []core.KeyToPath, bool, error) {
	isTrue := func(flag *bool) bool { return flag != nil && *flag }
	switch {
	case volume.Secret != nil:
		optional := isTrue(volume.Secret.Optional)
		secret, err := values.client.CoreV1().Secrets(pod.Namespace).Get(values.ctx, volume.Secret.SecretName, meta.GetOptions{})
		if err != nil {
			return nil, nil, optional, err
		}
		return secret.Data, volume.Secret.Items, optional, nil
	case volume.ConfigMap != nil:
		optional := isTrue(volume.ConfigMap.Optional)
		config, err := values.client.CoreV1().ConfigMaps(pod.Namespace).Get(values.ctx, volume.ConfigMap.Name, meta.GetOptions{})
		if err != nil {
			return nil, nil, optional, err
		}
		files := map[string][]byte{}
		for key, value := range config.Data {
			files[key] = []byte(value)
		}
		for key, value := range config.BinaryData {
			files[key] = value
		}
		return files, volume.ConfigMap.Items, optional, nil
	case volume.PersistentVolumeClaim != nil:
		_, err := values.client.CoreV1().PersistentVolumeClaims(pod.Namespace).Get(values.ctx,
			volume.PersistentVolumeClaim.ClaimName, meta.GetOptions{})
		return nil, nil, false, err
	case volume.EmptyDir != nil, volume.HostPath != nil:
		return nil, nil, false, nil
	}
	return nil, nil, false, fmt.Errorf("is of a kind that is not known")
}

func writeFiles(folder string, files map[string][]byte, items []core.KeyToPath) error {
	if len(items) == 0 {
		for key := range files {
			items = append(items, core.KeyToPath{Key: key, Path: key})
		}
	}
	for _, item := range items {
		value, found := files[item.Key]
		if !found {
			return fmt.Errorf("there is no key %s", item.Key)
		}
		path := filepath.Join(folder, filepath.Clean("/"+item.Path))
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, value, 0o644); err != nil {
			return err
		}
	}
	return nil
}
