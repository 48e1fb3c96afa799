// Command load sends requests to an address at a fixed rate and tells of each that fails when, where and how.
//
//	load --host NAME [--rate N] [--kept N] ADDRESS:PORT    until SIGTERM; then one object of JSON
//	load --backend :PORT                                   a server that answers 200, until SIGTERM
//
// Every second request has a connection of its own; the others share --kept connections, which stay open. A request is sent
// at its time, however long others take; a generator that does not get the processor says so (lateMs, notSent) and counts
// nothing as failed that it did not send. A kept connection that its server has closed, before a byte of the answer, is
// used again by no client that follows RFC 9112 (section 9.3.1): the request is sent once more on a new one, and counted (raced).
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"
)

const (
	patience = 10 * time.Second
	tick     = 2 * time.Millisecond
	// Above them the generator would measure itself.
	mostInFlight = 5000
	mostTold     = 200
	body         = "ok"
)

// failure is one request that had no good answer.
type failure struct {
	At         string `json:"at"`         // wall time, as logs have it
	Connection string `json:"connection"` // new, or kept
	Step       string `json:"step"`       // connect, send, or answer
	Kind       string `json:"kind"`       // refused, reset, timeout, closed, or what was answered
	TookMs     int64  `json:"tookMs"`
	Port       int    `json:"port,omitempty"` // of the client
}

type report struct {
	Requests  int            `json:"requests"`
	PerSecond int            `json:"perSecond"`
	Failed    int            `json:"failed"`
	Failures  map[string]int `json:"failures"`
	Raced     int            `json:"raced"`
	NotSent   int            `json:"notSent"`
	LateMs    int64          `json:"lateMs"`
	LongestMs int64          `json:"longestMs"`
	GapMs     int64          `json:"longestGapMs"` // between two good answers
	Told      []failure      `json:"told"`
}

type load struct {
	address, request, keptRequest string
	idle                          chan *connection
	inFlight                      sync.WaitGroup

	mutex    sync.Mutex
	running  int
	lastGood time.Time
	report   report
}

type connection struct {
	net.Conn
	reader *bufio.Reader
	used   bool
}

func (load *load) dial() (*connection, error) {
	made, err := net.DialTimeout("tcp", load.address, patience)
	if err != nil {
		return nil, err
	}
	return &connection{Conn: made, reader: bufio.NewReaderSize(made, 1024)}, nil
}

// kindOf names what went wrong with a connection.
func kindOf(err error) string {
	var slow net.Error
	switch {
	case errors.Is(err, syscall.ECONNREFUSED):
		return "refused"
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		return "reset"
	case errors.As(err, &slow) && slow.Timeout():
		return "timeout"
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return "closed"
	}
	return err.Error()
}

// answer reads one; `keeps` says whether the connection may be used again, `none` that not a byte has come.
func answer(reader *bufio.Reader) (status string, keeps, none bool, err error) {
	first, err := reader.ReadString('\n')
	if err != nil {
		return "", false, first == "", err
	}
	keeps = true
	length := 0
	for {
		line, err := reader.ReadString('\n')
		if err != nil {
			return "", false, false, err
		}
		name, value, _ := strings.Cut(strings.TrimSpace(line), ":")
		value = strings.TrimSpace(value)
		if name == "" {
			break
		}
		if strings.EqualFold(name, "Content-Length") {
			length, _ = strconv.Atoi(value)
		}
		keeps = keeps && !(strings.EqualFold(name, "Connection") && strings.EqualFold(value, "close"))
	}
	text := make([]byte, length)
	if _, err := io.ReadFull(reader, text); err != nil {
		return "", false, false, err
	}
	status = strings.TrimSpace(strings.TrimPrefix(first, "HTTP/1.1 "))
	if strings.HasPrefix(status, "200") && string(text) != body {
		return "another body", false, false, nil
	}
	return status, keeps, false, nil
}

func (load *load) one(due time.Time, kept bool) {
	defer load.inFlight.Done()
	began := time.Now()
	kind := "new"
	text := load.request
	var used *connection
	if kept {
		kind, text = "kept", load.keptRequest
		select {
		case used = <-load.idle:
		default:
		}
	}
	var failed *failure
	raced := false
	for again := true; again; {
		again = false
		step, port := "connect", 0
		var err error
		var status string
		keeps, none := false, true
		if used == nil {
			used, err = load.dial()
		}
		if err == nil {
			port = used.LocalAddr().(*net.TCPAddr).Port
			_ = used.SetDeadline(time.Now().Add(patience))
			step = "send"
			if _, err = io.WriteString(used, text); err == nil {
				step = "answer"
				status, keeps, none, err = answer(used.reader)
			}
		}
		switch {
		case err != nil && used != nil && used.used && none && kindOf(err) != "timeout":
			_ = used.Close()
			used, again, raced = nil, true, true
		case err != nil:
			failed = &failure{Connection: kind, Step: step, Kind: kindOf(err), Port: port}
		case !strings.HasPrefix(status, "200"):
			failed = &failure{Connection: kind, Step: step, Kind: status, Port: port}
		}
		if used != nil && (err != nil || !kept || !keeps || !load.keep(used)) {
			_ = used.Close()
		}
	}
	load.count(due, began, failed, raced)
}

func (load *load) keep(used *connection) bool {
	used.used = true
	select {
	case load.idle <- used:
		return true
	default:
		return false
	}
}

func (load *load) count(due, began time.Time, failed *failure, raced bool) {
	now := time.Now()
	load.mutex.Lock()
	defer load.mutex.Unlock()
	load.running--
	told := &load.report
	told.LateMs = max(told.LateMs, began.Sub(due).Milliseconds())
	told.LongestMs = max(told.LongestMs, now.Sub(began).Milliseconds())
	if raced {
		told.Raced++
	}
	if failed == nil {
		told.GapMs = max(told.GapMs, now.Sub(load.lastGood).Milliseconds())
		load.lastGood = now
		return
	}
	told.Failed++
	told.Failures[failed.Connection+" "+failed.Step+" "+failed.Kind]++
	if len(told.Told) < mostTold {
		failed.At = began.UTC().Format("15:04:05.000")
		failed.TookMs = now.Sub(began).Milliseconds()
		told.Told = append(told.Told, *failed)
	}
}

func (load *load) run(rate int, stop <-chan os.Signal) {
	began := time.Now()
	load.lastGood = began
	interval := time.Second / time.Duration(rate)
	ticker := time.NewTicker(tick)
	defer ticker.Stop()
	sent := 0
	for running := true; running; {
		select {
		case <-stop:
			running = false
		case <-ticker.C:
		}
		for due := began.Add(time.Duration(sent) * interval); !due.After(time.Now()); due = due.Add(interval) {
			load.mutex.Lock()
			room := load.running < mostInFlight
			if room {
				load.running++
				load.report.Requests++
			} else {
				load.report.NotSent++
			}
			load.mutex.Unlock()
			if room {
				load.inFlight.Add(1)
				go load.one(due, sent%2 == 1)
			}
			sent++
		}
	}
	seconds := time.Since(began).Seconds()
	load.inFlight.Wait()
	load.report.PerSecond = int(float64(load.report.Requests) / seconds)
	out := json.NewEncoder(os.Stdout)
	out.SetEscapeHTML(false)
	if err := out.Encode(load.report); err != nil {
		fmt.Fprintln(os.Stderr, "load:", err)
		os.Exit(1)
	}
}

func serve(address string, stop <-chan os.Signal) error {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return err
	}
	go func() {
		<-stop
		_ = listener.Close()
	}()
	for {
		client, err := listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return nil
		}
		if err != nil {
			return err
		}
		go func() {
			defer client.Close()
			reader := bufio.NewReader(client)
			for {
				line, err := reader.ReadString('\n')
				if err != nil {
					return
				}
				if strings.TrimSpace(line) != "" {
					continue
				}
				if _, err := fmt.Fprintf(client, "HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s", len(body), body); err != nil {
					return
				}
			}
		}()
	}
}

func main() {
	host := flag.String("host", "", "`name` that is asked for")
	rate := flag.Int("rate", 500, "requests a `second`")
	kept := flag.Int("kept", 32, "connections that stay open")
	backend := flag.String("backend", "", "`address` to serve on, in place of sending")
	flag.Parse()
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM, syscall.SIGINT)
	if *backend != "" {
		if err := serve(*backend, stop); err != nil {
			fmt.Fprintln(os.Stderr, "load:", err)
			os.Exit(1)
		}
		return
	}
	if flag.NArg() != 1 || *host == "" || *rate < 1 || *kept < 1 {
		flag.Usage()
		os.Exit(2)
	}
	head := "GET / HTTP/1.1\r\nHost: " + *host + "\r\n"
	sender := &load{address: flag.Arg(0), request: head + "Connection: close\r\n\r\n", keptRequest: head + "\r\n",
		idle: make(chan *connection, *kept), report: report{Failures: map[string]int{}, Told: []failure{}}}
	sender.run(*rate, stop)
}
