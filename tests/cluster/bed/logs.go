package main

import (
	"bufio"
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"
)

// The API server asks for logs here, at each node's address.
const kubeletPort = 10250

func (kubelet *Kubelet) logFile(namespace, pod, container string) string {
	return filepath.Join(kubelet.logs, strings.Join([]string{namespace, pod, container}, "_")+".log")
}

// serveLogs answers /containerLogs/NAMESPACE/POD/CONTAINER at each node's address, from within its namespace.
func (kubelet *Kubelet) serveLogs(pki string) error {
	certificate, err := tls.LoadX509KeyPair(filepath.Join(pki, "tls.crt"), filepath.Join(pki, "tls.key"))
	if err != nil {
		return err
	}
	for _, node := range kubelet.network.Nodes {
		listener, err := listenIn(node.Name, fmt.Sprintf("%s:%d", node.Address, kubeletPort))
		if err != nil {
			return err
		}
		server := &http.Server{Handler: http.HandlerFunc(kubelet.sendLog), ReadHeaderTimeout: 10 * time.Second}
		go func() {
			<-kubelet.ctx.Done()
			_ = server.Close()
		}()
		go func() {
			_ = server.Serve(tls.NewListener(listener, &tls.Config{Certificates: []tls.Certificate{certificate}}))
		}()
	}
	return nil
}

func (kubelet *Kubelet) sendLog(writer http.ResponseWriter, request *http.Request) {
	parts := strings.Split(strings.TrimPrefix(request.URL.Path, "/containerLogs/"), "/")
	if len(parts) != 3 || strings.Contains(request.URL.Path, "..") {
		http.Error(writer, "not found", http.StatusNotFound)
		return
	}
	file, err := os.Open(kubelet.logFile(parts[0], parts[1], parts[2]))
	if err != nil {
		http.Error(writer, "no such log", http.StatusNotFound)
		return
	}
	defer file.Close()
	query := request.URL.Query()
	since, err := time.Parse(time.RFC3339, query.Get("sinceTime"))
	if seconds, bad := strconv.Atoi(query.Get("sinceSeconds")); err != nil && bad == nil {
		since = time.Now().Add(-time.Duration(seconds) * time.Second)
	}
	lines := bufio.NewReader(file)
	partial := ""
	for {
		line, err := lines.ReadString('\n')
		partial += line
		if err == nil {
			stamp, text, _ := strings.Cut(partial, " ")
			partial = ""
			if at, bad := time.Parse(time.RFC3339Nano, stamp); bad == nil && !at.Before(since) {
				if query.Get("timestamps") == "true" {
					text = stamp + " " + text
				}
				if _, err := io.WriteString(writer, text); err != nil {
					return
				}
			}
			continue
		}
		if query.Get("follow") != "true" {
			return
		}
		writer.(http.Flusher).Flush()
		select {
		case <-request.Context().Done():
			return
		case <-time.After(100 * time.Millisecond):
		}
	}
}

// lineLog writes each line with the time of its end before it. Safe for several goroutines.
type lineLog struct {
	mutex sync.Mutex
	file  *os.File
	begun []byte
}

func (log *lineLog) Write(text []byte) (int, error) {
	log.mutex.Lock()
	defer log.mutex.Unlock()
	for rest := text; ; {
		line, after, whole := bytes.Cut(rest, []byte{'\n'})
		log.begun = append(log.begun, line...)
		if !whole {
			return len(text), nil
		}
		stamped := time.Now().UTC().AppendFormat(nil, time.RFC3339Nano)
		stamped = append(append(append(stamped, ' '), log.begun...), '\n')
		log.begun = log.begun[:0]
		if _, err := log.file.Write(stamped); err != nil {
			return 0, err
		}
		rest = after
	}
}
