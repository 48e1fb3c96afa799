// Package client_go holds the embedded resource API against what Kubernetes' own client libraries expect of a server.
// script/check-client-go runs it; EDGE_RESOURCE_API names the server (bin/serve_resource_api). On a cluster, which
// EDGE_TEST_KUBECONFIG leads to, script/check-cluster runs the same: it shows that the tests are right.
package client_go

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

const patience = 30 * time.Second

// server is one run of the API over a data directory that outlives it, or a way to that of a cluster.
type server struct {
	data      string
	port      string
	namespace string // of the test alone
	command   *exec.Cmd
	stdin     io.WriteCloser
	cluster   *relay
}

func (s *server) start() error {
	if s.cluster != nil {
		return s.cluster.open()
	}
	port := s.port
	if port == "" {
		port = "0"
	}
	s.command = exec.Command(os.Getenv("EDGE_RESOURCE_API"), s.data, port)
	s.command.Stderr = os.Stderr
	if os.Getenv("EDGE_VERBOSE") == "" {
		s.command.Stderr = nil
	}
	stdin, err := s.command.StdinPipe()
	if err != nil {
		return err
	}
	s.stdin = stdin
	stdout, err := s.command.StdoutPipe()
	if err != nil {
		return err
	}
	if err := s.command.Start(); err != nil {
		return err
	}
	line, err := bufio.NewReader(stdout).ReadString('\n')
	if err != nil {
		return fmt.Errorf("the API does not start: %w", err)
	}
	address, err := url.Parse(line[:len(line)-1])
	if err != nil {
		return err
	}
	s.port = address.Port()
	return nil
}

// kill ends it as a crash would.
func (s *server) kill() {
	if s.cluster != nil {
		s.cluster.cut()
		return
	}
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
}

func startServer(t *testing.T) *server {
	t.Helper()
	if path := os.Getenv("EDGE_TEST_KUBECONFIG"); path != "" {
		return startRelay(t, path)
	}
	if os.Getenv("EDGE_RESOURCE_API") == "" {
		t.Skip("EDGE_RESOURCE_API is not set")
	}
	s := &server{data: filepath.Join(t.TempDir(), "data"), namespace: "default"}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

func (s *server) config(t *testing.T) *rest.Config {
	t.Helper()
	path := filepath.Join(s.data, "kubeconfig")
	if s.cluster != nil {
		path = s.cluster.kubeconfig
	}
	config, err := clientcmd.BuildConfigFromFlags("", path)
	if err != nil {
		t.Fatal(err)
	}
	if s.cluster != nil {
		config.Host = "https://" + s.cluster.address
	}
	// The tests ask more than a careful client would.
	config.QPS, config.Burst = 1000, 1000
	return config
}

func within(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	t.Cleanup(cancel)
	return ctx
}

// eventually waits for a condition that other programs bring about.
func eventually(t *testing.T, what string, met func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if met() {
			return
		}
	}
	t.Fatalf("never came about: %s", what)
}
