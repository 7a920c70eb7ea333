package realcluster

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"syscall"
	"time"
)

// endPatience is how long a process may take to end after SIGTERM before it is killed: a lone primary
// of a release without shutdownTimeoutMillisForSignaledShutdown takes 10 to 15 seconds.
const endPatience = 40 * time.Second

// process is a running mongod or mongos. It leads a process group of its own, so that ^C in a terminal
// reaches the test, which then ends it.
type process struct {
	cmd   *exec.Cmd
	log   string        // path of its output
	ended chan struct{} // closed when it has ended; err is set before
	err   error
}

// starter runs functions on one thread that lives as long as this program: the kernel ends a child when
// the thread ends that started it, and threads of Go come and go.
var starter = sync.OnceValue(func() chan<- func() {
	work := make(chan func())
	go func() {
		runtime.LockOSThread()
		for f := range work {
			f()
		}
	}()
	return work
})

// startProcess starts a program whose output is appended to a file.
func startProcess(program, log string, args []string) (*process, error) {
	out, err := os.OpenFile(log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}
	defer out.Close()
	cmd := exec.Command(program, args...)
	cmd.Stdout, cmd.Stderr = out, out
	cmd.SysProcAttr = groupOfItsOwn()
	// A time zone or locale of the machine must not change what the servers do.
	cmd.Env = append(os.Environ(), "TZ=UTC", "LC_ALL=C")
	started := make(chan error)
	starter() <- func() { started <- cmd.Start() }
	if err := <-started; err != nil {
		return nil, err
	}
	p := &process{cmd: cmd, log: log, ended: make(chan struct{})}
	go func() {
		p.err = cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func (p *process) running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// signal sends a signal to the process if it runs.
func (p *process) signal(s syscall.Signal) error {
	if !p.running() {
		return errors.New("it does not run")
	}
	return syscall.Kill(p.cmd.Process.Pid, s)
}

// kill ends the process and its group at once, also when it is frozen.
func (p *process) kill() {
	if p.running() {
		_ = syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL)
		<-p.ended
	}
}

// terminate ends the process as an operator does, or kills it after endPatience.
func (p *process) terminate(ctx context.Context) {
	if p.signal(syscall.SIGTERM) == nil {
		late := time.NewTimer(endPatience)
		defer late.Stop()
		select {
		case <-p.ended:
		case <-late.C:
		case <-ctx.Done():
		}
	}
	p.kill()
}

// pollPause is the pause between two looks at something that a process is to do.
const pollPause = 50 * time.Millisecond

// until calls try until it succeeds, the context ends or stop is closed. It returns the last error.
func until(ctx context.Context, stop <-chan struct{}, try func(context.Context) error) error {
	for {
		err := try(ctx)
		if err == nil {
			return nil
		}
		select {
		case <-stop:
			return errors.Join(errExited, err)
		case <-ctx.Done():
			return err
		case <-time.After(pollPause):
		}
	}
}

// tail is the end of a log.
func tail(path string, n int64) string {
	f, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer f.Close()
	if info, err := f.Stat(); err == nil && info.Size() > n {
		_, _ = f.Seek(-n, io.SeekEnd)
	}
	text, _ := io.ReadAll(f)
	return string(text)
}

// failure describes why a process ended, from its log.
func (p *process) failure() error {
	return fmt.Errorf("%s", whyNotRun(p.err, tail(p.log, 64<<10)))
}
