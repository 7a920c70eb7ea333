// Package process builds and runs programs for the tests of modules beside it, which cannot import each other's test
// files. A program that is started ends with its test, and must end well when it is asked to.
package process

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Wait is how long a state that is waited for may take: more than it ever needs on a busy machine.
const Wait = 2 * time.Minute

// folder has the programs that were built, for all tests of a package.
var folder = sync.OnceValues(func() (string, error) { return os.MkdirTemp("", "programs") })

// Main runs the tests of a package and removes what was built for them.
func Main(m *testing.M) {
	code := m.Run()
	if dir, err := folder(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

// Build builds a program of the module in a folder. A program that is built already is made again within a moment.
func Build(t *testing.T, name, dir, pkg string) string {
	t.Helper()
	into, err := folder()
	if err != nil {
		t.Fatal(err)
	}
	bin := filepath.Join(into, name)
	cmd := exec.CommandContext(t.Context(), "go", "build", "-o", bin, pkg)
	cmd.Dir = dir
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("build %s: %v\n%s", pkg, err, out)
	}
	return bin
}

// Shardboard is the program in SHARDBOARD_BIN, or the one of this checkout, whose root is two folders above the test.
func Shardboard(t *testing.T) string {
	t.Helper()
	if bin := os.Getenv("SHARDBOARD_BIN"); bin != "" {
		return bin
	}
	return Build(t, "shardboard", "../..", "./cmd/shardboard")
}

// Process is a running program.
type Process struct {
	Cmd   *exec.Cmd
	lines chan string // of the standard output; those that nobody reads are dropped

	mu   sync.Mutex
	text bytes.Buffer // of both outputs

	ended sync.Once
	read  chan struct{} // closed when the standard output is
}

// Start runs a program until the test ends.
func Start(t *testing.T, bin string, args ...string) *Process {
	t.Helper()
	return Run(t, exec.Command(bin, args...))
}

// Run is Start for a command with an environment or folder of its own.
func Run(t *testing.T, cmd *exec.Cmd) *Process {
	t.Helper()
	p := &Process{Cmd: cmd, lines: make(chan string, 256), read: make(chan struct{})}
	if cmd.SysProcAttr == nil {
		cmd.SysProcAttr = &syscall.SysProcAttr{}
	}
	cmd.SysProcAttr.Setpgid = true // a shell's program ends with it
	cmd.Stderr = p
	out, err := cmd.StdoutPipe()
	if err == nil {
		err = cmd.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		defer close(p.read)
		for in := bufio.NewScanner(out); in.Scan(); {
			_, _ = p.Write(append(in.Bytes(), '\n'))
			select {
			case p.lines <- in.Text():
			default:
			}
		}
	}()
	t.Cleanup(func() { p.Stop(t) })
	return p
}

// Stop asks the program to end and waits for it.
func (p *Process) Stop(t *testing.T) {
	p.ended.Do(func() {
		group := -p.Cmd.Process.Pid
		_ = syscall.Kill(group, syscall.SIGCONT) // a test may have stopped it
		_ = syscall.Kill(group, syscall.SIGTERM)
		kill := time.AfterFunc(time.Minute, func() { _ = syscall.Kill(group, syscall.SIGKILL) })
		defer kill.Stop()
		<-p.read
		// A shell around the program ends by the signal itself.
		if err := p.Cmd.Wait(); err != nil && (p.Cmd.ProcessState.ExitCode() > 0 || !kill.Stop()) {
			t.Errorf("%v ended with %v", p.Cmd.Args, err)
		}
		if t.Failed() {
			out := p.Output()
			t.Logf("end of the output of %v:\n%s", p.Cmd.Args, out[max(0, len(out)-4000):])
		}
	})
}

// Write stores output.
func (p *Process) Write(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.Write(b)
}

// Output is all that the program has written.
func (p *Process) Output() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.text.String()
}

// Line waits for a line of the standard output that matches, and returns its part in parentheses.
func (p *Process) Line(t *testing.T, pattern string) string {
	t.Helper()
	wanted, late := regexp.MustCompile(pattern), time.After(Wait)
	for {
		select {
		case line := <-p.lines:
			if m := wanted.FindStringSubmatch(line); m != nil {
				return m[1]
			}
		case <-p.read:
			if len(p.lines) == 0 {
				t.Fatalf("%v ended without a line like %s:\n%s", p.Cmd.Args, pattern, p.Output())
			}
		case <-late:
			t.Fatalf("%v printed no line like %s:\n%s", p.Cmd.Args, pattern, p.Output())
		}
	}
}

// FreePort is a port that nobody used a moment ago.
func FreePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return fmt.Sprint(l.Addr().(*net.TCPAddr).Port)
}

// Eventually tries until it succeeds.
func Eventually(t *testing.T, what string, try func(context.Context) error) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), Wait)
	defer cancel()
	for {
		err := try(ctx)
		if err == nil {
			return
		}
		select {
		case <-time.After(100 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("%s: %v", what, err)
		}
	}
}
