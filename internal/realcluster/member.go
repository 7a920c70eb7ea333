package realcluster

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"
)

const (
	// readyPatience is how long a server may take until it answers: a busy machine with two processors
	// that starts five of them needs some 20 seconds.
	readyPatience = 2 * time.Minute
	// portAttempts is how many ports are tried when others take them between finding and using them.
	portAttempts = 5
	// portPatience is how long a restarted server waits until its port is free again.
	portPatience = 20 * time.Second
)

// member is one mongod or mongos with its folder and port.
type member struct {
	name    string // for messages, such as shard-rs-1 or mongos
	servers Servers
	program string
	folder  string
	flags   []string // without port, and without parameters
	usual   map[string]string
	wanted  map[string]string

	mu      sync.Mutex
	port    int
	process *process
	frozen  bool
	without []string // usual parameters that the server refused
}

// address is where the member listens.
func (m *member) address() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return net.JoinHostPort("127.0.0.1", strconv.Itoa(m.port))
}

// freePort finds a port that nobody uses at this moment.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// start starts the member on a free port, on another one when somebody took it meanwhile, and waits
// until it answers.
func (m *member) start(ctx context.Context) error {
	if err := os.MkdirAll(m.dataPath(), 0o700); err != nil {
		return err
	}
	for attempt := 1; ; attempt++ {
		port, err := freePort()
		if err != nil {
			return err
		}
		m.mu.Lock()
		m.port = port
		m.mu.Unlock()
		err = m.launch(ctx)
		if err == nil || !m.complainedOf(isPortTaken) || attempt == portAttempts {
			return err
		}
	}
}

// launch starts the process on its port and waits until it answers. A usual parameter that this very
// server does not know is left out.
func (m *member) launch(ctx context.Context) error {
	for {
		err := m.launchOnce(ctx)
		if err == nil {
			return nil
		}
		refused := unknownParameter.FindStringSubmatch(tail(m.logPath(), 64<<10))
		if refused == nil || m.usual[refused[1]] == "" || slices.Contains(m.without, refused[1]) {
			return err
		}
		m.without = append(m.without, refused[1])
	}
}

func (m *member) launchOnce(ctx context.Context) error {
	usual := make(map[string]string)
	for name, value := range m.usual {
		if !slices.Contains(m.without, name) {
			usual[name] = value
		}
	}
	parameters, err := m.servers.parameterFlags(usual, m.wanted)
	if err != nil {
		return err
	}
	// The log of an earlier attempt must not explain this one.
	if err := os.RemoveAll(m.logPath()); err != nil {
		return err
	}
	args := slices.Concat(m.flags, []string{"--port", strconv.Itoa(m.port)}, parameters)
	p, err := startProcess(m.program, m.logPath(), args)
	if err != nil {
		return m.failed(errors.New(whyNotRun(err, "")))
	}
	m.mu.Lock()
	m.process, m.frozen = p, false
	m.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, readyPatience)
	defer cancel()
	address := m.address()
	err = until(ctx, p.ended, func(ctx context.Context) error {
		_, err := ask(ctx, address, bson.D{{Key: "hello", Value: 1}})
		return err
	})
	// Another server may answer on a port that it took from this one.
	if err == nil && p.running() {
		return nil
	}
	if p.running() {
		p.kill()
		return m.failed(fmt.Errorf("it did not answer within %s: %w", readyPatience, err))
	}
	return m.failed(p.failure())
}

func (m *member) failed(why error) error {
	return fmt.Errorf("%s of MongoDB %s did not start as %s: %w", m.program, m.servers.Release, m.name, why)
}

func (m *member) logPath() string { return filepath.Join(m.folder, "log") }

func (m *member) dataPath() string { return filepath.Join(m.folder, "data") }

func (m *member) complainedOf(what func(string) bool) bool { return what(tail(m.logPath(), 64<<10)) }

// again starts the member on its port after it has ended.
func (m *member) again(ctx context.Context) error {
	for end := time.Now().Add(portPatience); ; {
		err := m.launch(ctx)
		if err == nil || !m.complainedOf(isPortTaken) || time.Now().After(end) {
			return err
		}
		select {
		case <-time.After(10 * pollPause):
		case <-ctx.Done():
			return err
		}
	}
}

// freeze stops the process as SIGSTOP does: its connections stay open and nobody answers.
func (m *member) freeze() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil {
		return errors.New("it was not started")
	}
	m.frozen = true
	return m.process.signal(syscall.SIGSTOP)
}

// thaw lets the process go on.
func (m *member) thaw() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.process == nil || !m.frozen {
		return nil
	}
	m.frozen = false
	return m.process.signal(syscall.SIGCONT)
}

// answers reports whether the process runs and is not frozen.
func (m *member) answers() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process != nil && m.process.running() && !m.frozen
}

// hasEnded reports whether the process was started and does not run any more.
func (m *member) hasEnded() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.process != nil && !m.process.running()
}

func (m *member) kill() {
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if p != nil {
		p.kill()
	}
}

// terminate ends the process as an operator does. A frozen process cannot end, so it goes on first.
func (m *member) terminate(ctx context.Context) {
	_ = m.thaw()
	m.mu.Lock()
	p := m.process
	m.mu.Unlock()
	if p != nil {
		p.terminate(ctx)
	}
}
