package main

import (
	"fmt"
	"net"
	"net/netip"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// Addresses of the cluster: one bridge, on which nodes and pods are neighbours.
const (
	bridge       = "edge0"
	bridgeIP     = "10.244.0.1"
	prefixLength = 16
)

// Network gives out namespaces with an address on the bridge. Safe for several goroutines.
type Network struct {
	Nodes []Node

	mutex sync.Mutex
	next  netip.Addr
	free  []netip.Addr
	links int
}

// Node is a network namespace that stands for a machine.
type Node struct {
	Name    string
	Address netip.Addr
}

func command(name string, arguments ...string) error {
	out, err := exec.Command(name, arguments...).CombinedOutput()
	if err != nil {
		return fmt.Errorf("%s %s: %w: %s", name, strings.Join(arguments, " "), err, strings.TrimSpace(string(out)))
	}
	return nil
}

func ip(arguments ...string) error { return command("ip", arguments...) }

// newNetwork makes the bridge and the nodes.
func newNetwork(nodes int) (*Network, error) {
	for _, step := range [][]string{
		{"link", "set", "lo", "up"},
		{"link", "add", bridge, "type", "bridge"},
		{"address", "add", fmt.Sprintf("%s/%d", bridgeIP, prefixLength), "dev", bridge},
		{"link", "set", bridge, "up"},
	} {
		if err := ip(step...); err != nil {
			return nil, err
		}
	}
	network := &Network{next: netip.MustParseAddr("10.244.1.1")}
	for i := range nodes {
		node := Node{Name: fmt.Sprintf("node-%d", i+1), Address: netip.AddrFrom4([4]byte{10, 244, 0, byte(10 + i)})}
		if err := network.attach(node.Name, node.Address); err != nil {
			return nil, err
		}
		network.Nodes = append(network.Nodes, node)
	}
	return network, nil
}

// attach makes the network namespace `name` with `address` on the bridge.
func (network *Network) attach(name string, address netip.Addr) error {
	network.mutex.Lock()
	network.links++
	link := fmt.Sprintf("veth%d", network.links)
	network.mutex.Unlock()
	for _, step := range [][]string{
		{"netns", "add", name},
		{"link", "add", link, "type", "veth", "peer", "name", "eth0", "netns", name},
		{"link", "set", link, "master", bridge, "up"},
		{"-n", name, "link", "set", "lo", "up"},
		{"-n", name, "address", "add", fmt.Sprintf("%s/%d", address, prefixLength), "dev", "eth0"},
		{"-n", name, "link", "set", "eth0", "up"},
		{"-n", name, "route", "add", "default", "via", bridgeIP},
	} {
		if err := ip(step...); err != nil {
			_ = ip("netns", "delete", name)
			return err
		}
	}
	return nil
}

// Add makes a namespace for a pod and returns its address.
func (network *Network) Add(name string) (netip.Addr, error) {
	network.mutex.Lock()
	address := network.next
	if count := len(network.free); count > 1000 {
		// An address is used again late, so that nobody takes a new pod for the one that had it.
		address, network.free = network.free[0], network.free[1:]
	} else {
		network.next = address.Next()
	}
	network.mutex.Unlock()
	return address, network.attach(name, address)
}

// within has `do` make a socket in the network namespace `name`. A socket stays in the namespace that it was made in.
func within(name string, do func() error) error {
	other, err := os.Open("/run/netns/" + name)
	if err != nil {
		return err
	}
	defer other.Close()
	runtime.LockOSThread()
	own, err := os.Open("/proc/thread-self/ns/net")
	if err != nil {
		runtime.UnlockOSThread()
		return err
	}
	defer own.Close()
	if err := unix.Setns(int(other.Fd()), unix.CLONE_NEWNET); err != nil {
		runtime.UnlockOSThread()
		return err
	}
	err = do()
	if back := unix.Setns(int(own.Fd()), unix.CLONE_NEWNET); back != nil {
		// The thread is of no use any more; it ends with its goroutine, as it stays locked.
		return back
	}
	runtime.UnlockOSThread()
	return err
}

// listenIn listens on `address` within the network namespace `name`.
func listenIn(name, address string) (listener net.Listener, err error) {
	err = within(name, func() (failed error) {
		listener, failed = net.Listen("tcp", address)
		return failed
	})
	return listener, err
}

// dialIn connects to `address`, which has no name in it, within the network namespace `name`.
func dialIn(name, network, address string, timeout time.Duration) (connection net.Conn, err error) {
	err = within(name, func() (failed error) {
		connection, failed = net.DialTimeout(network, address, timeout)
		return failed
	})
	return connection, err
}

// Remove takes away what Add made.
func (network *Network) Remove(name string, address netip.Addr) {
	_ = ip("netns", "delete", name)
	network.mutex.Lock()
	network.free = append(network.free, address)
	network.mutex.Unlock()
}
