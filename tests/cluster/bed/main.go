// Command bed makes a Kubernetes cluster of real parts on one machine, runs a command in it and takes it away.
//
//	bed [--nodes N] [--keep-logs DIR] [--audit USER] --bin DIR -- COMMAND [ARGUMENT...]
//
// The control plane is etcd, kube-apiserver and kube-controller-manager, found in --bin. Nodes are network namespaces on
// one bridge; pods get a namespace with an address of their own there, and run the programs that stand for their images
// (images.go) by a small kubelet of this command: readiness, logs, volumes, tokens and orderly ends included. There is no
// scheduler, DNS or kube-proxy: a pod goes to a node in turn, a Service's own address leads nowhere, and its name leads
// containers to an endpoint that is ready (services.go).
//
// COMMAND runs beside the API server with KUBECONFIG set for an administrator, EDGE_BED_LOGS for the folder of logs, and
// TMPDIR for one that goes with the cluster; its exit code is that of bed. With --audit, audit.log among the logs has a
// line for each request of the users whose names begin so, with the decision about it. Everything lives in namespaces
// (network, processes, mounts) of this command's own: when it ends, however it ends, all is gone.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"
)

const inside = "EDGE_BED_INSIDE"

func main() {
	if len(os.Args) > 1 && os.Args[1] == containerCommand {
		runContainer(os.Args[2:])
	}
	nodes := flag.Int("nodes", 1, "`number` of nodes, 1 to 50")
	bin := flag.String("bin", "", "`folder` of etcd, kube-apiserver, kube-controller-manager and the programs of images")
	logs := flag.String("keep-logs", "", "`folder` that keeps the logs of all programs")
	audit := flag.String("audit", "", "`user` whose requests are logged, or the group of all those users")
	flag.Parse()
	if *bin == "" || flag.NArg() == 0 || *nodes < 1 || *nodes > 50 {
		flag.Usage()
		os.Exit(2)
	}
	if os.Getenv(inside) == "" {
		os.Exit(enter())
	}
	code, err := run(*bin, *nodes, *logs, *audit, flag.Args())
	if err != nil {
		fmt.Fprintln(os.Stderr, "bed:", err)
		code = 1
	}
	os.Exit(code)
}

// enter runs this command again in namespaces of its own.
func enter() int {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(os.Stderr, "bed:", err)
		return 1
	}
	again := exec.Command(self, os.Args[1:]...)
	again.Env = append(os.Environ(), inside+"=1")
	again.Stdin, again.Stdout, again.Stderr = os.Stdin, os.Stdout, os.Stderr
	again.SysProcAttr = &syscall.SysProcAttr{
		Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS | syscall.CLONE_NEWPID,
		Pdeathsig:  syscall.SIGKILL,
	}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	if err := again.Start(); err != nil {
		fmt.Fprintln(os.Stderr, "bed: namespaces cannot be made (root is needed):", err)
		return 1
	}
	go func() {
		for caught := range signals {
			_ = again.Process.Signal(caught)
		}
	}()
	return exitCode(again.Wait())
}

func exitCode(err error) int {
	var exit *exec.ExitError
	switch {
	case err == nil:
		return 0
	case errors.As(err, &exit) && exit.ExitCode() >= 0:
		return exit.ExitCode()
	default:
		return 1
	}
}

func run(bin string, nodes int, logs, audit string, command []string) (int, error) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	// Looked up before this command's own mounts are above it.
	logs, err := filepath.Abs(cmp.Or(logs, filepath.Join(stateDir, "logs")))
	if err != nil {
		return 1, err
	}
	if err := ownMounts(); err != nil {
		return 1, err
	}
	for _, folder := range []string{logs, filepath.Join(stateDir, "tmp")} {
		if err := os.MkdirAll(folder, 0o755); err != nil {
			return 1, err
		}
	}
	network, err := newNetwork(nodes)
	if err != nil {
		return 1, fmt.Errorf("network: %w", err)
	}
	began := time.Now()
	plane, err := startControlPlane(ctx, bin, stateDir, logs, audit)
	if err != nil {
		return 1, fmt.Errorf("control plane: %w", err)
	}
	defer plane.stop()
	kubelet, err := startKubelet(ctx, plane.config, network, bin, stateDir, logs)
	if err != nil {
		return 1, fmt.Errorf("kubelet: %w", err)
	}
	defer kubelet.stop()
	fmt.Fprintf(os.Stderr, "bed: %d node(s) ready after %.1f s\n", nodes, time.Since(began).Seconds())

	child := exec.CommandContext(ctx, command[0], command[1:]...)
	child.Env = append(os.Environ(), "KUBECONFIG="+plane.kubeconfig, "EDGE_BED_LOGS="+logs,
		"TMPDIR="+filepath.Join(stateDir, "tmp"))
	child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
	child.Cancel = func() error { return child.Process.Signal(syscall.SIGTERM) }
	child.WaitDelay = 10 * time.Second
	return exitCode(child.Run()), nil
}
