// Package client_go holds the embedded resource API against what Kubernetes' own client libraries expect of a server.
// script/check-client-go runs it; EDGE_RESOURCE_API names the server (bin/serve_resource_api).
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

// server is one run of the API over a data directory that outlives it.
type server struct {
	data    string
	port    string
	command *exec.Cmd
	stdin   io.WriteCloser
}

func (s *server) start() error {
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
	_ = s.command.Process.Kill()
	_ = s.command.Wait()
}

func startServer(t *testing.T) *server {
	t.Helper()
	if os.Getenv("EDGE_RESOURCE_API") == "" {
		t.Skip("EDGE_RESOURCE_API is not set")
	}
	s := &server{data: filepath.Join(t.TempDir(), "data")}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

func (s *server) config(t *testing.T) *rest.Config {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", filepath.Join(s.data, "kubeconfig"))
	if err != nil {
		t.Fatal(err)
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
