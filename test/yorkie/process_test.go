package yorkie_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// build builds a binary from a dependency of this module, or from a folder.
func build(t *testing.T, name, dir, pkg string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// shardboard is the binary in SHARDBOARD_BIN, or one built from this repository.
func shardboard(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("SHARDBOARD_BIN"); bin != "" {
		return bin
	}
	return build(t, "shardboard", "../..", "./cmd/shardboard")
}

// process is a running program with its output.
type process struct {
	name string
	mu   sync.Mutex
	text bytes.Buffer
	line chan string // lines of the standard output, while they are read
}

// start runs a program and interrupts it when the test ends.
func start(t *testing.T, bin string, args ...string) *process {
	t.Helper()
	p := &process{name: filepath.Base(bin) + " " + args[0], line: make(chan string, 16)}
	cmd := exec.Command(bin, args...)
	cmd.Stderr = p
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	read := make(chan struct{})
	go func() {
		defer close(read)
		for in := bufio.NewScanner(stdout); in.Scan(); {
			_, _ = p.Write(append(in.Bytes(), '\n'))
			select {
			case p.line <- in.Text():
			default:
			}
		}
	}()
	t.Cleanup(func() {
		_ = cmd.Process.Signal(syscall.SIGTERM)
		kill := time.AfterFunc(20*time.Second, func() { _ = cmd.Process.Kill() })
		defer kill.Stop()
		<-read
		if err := cmd.Wait(); err != nil {
			t.Errorf("%s ended with %v", p.name, err)
		}
		if t.Failed() {
			t.Logf("end of the output of %s:\n%s", p.name, p.tail(4000))
		}
	})
	return p
}

// Write stores output.
func (p *process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

func (p *process) output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

func (p *process) tail(n int) string {
	out := p.output()
	return out[max(0, len(out)-n):]
}

// waitForLine waits for a line of the standard output with this prefix and returns the rest of
// it.
func (p *process) waitForLine(t *testing.T, prefix string) string {
	t.Helper()
	late := time.After(time.Minute)
	for {
		select {
		case line := <-p.line:
			if rest, ok := strings.CutPrefix(line, prefix); ok {
				return rest
			}
		case <-late:
			t.Fatalf("%s has not said %q:\n%s", p.name, prefix, p.tail(4000))
		}
	}
}

// freePort returns an unused port.
func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// eventually retries until try succeeds.
func eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(200 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}
