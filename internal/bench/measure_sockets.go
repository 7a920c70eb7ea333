package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"time"
)

const (
	// followFor is how long updates are counted.
	followFor = 30 * time.Second
	// bareFor is how long those of a bare loop are.
	bareFor = 5 * time.Second
	// changeEvery is how often the cluster changes meanwhile.
	changeEvery = time.Second
	topic       = "overview"
)

// ConnectionsFor is the --max-connections that allows so many live sockets and those that stall, of which there
// may be three quarters of all connections.
func ConnectionsFor(sockets int) int { return max(1024, (sockets+stalled(sockets))*4/3+64) }

// stalled is how many sockets that never read are opened beside so many that do.
func stalled(sockets int) int { return sockets / 10 }

// measureSockets follows a page that changes, and then updates of as many bytes that a
// bare loop writes.
func measureSockets(ctx context.Context, o Options, r *Report, sim *clusterProcess, s *serverProcess) error {
	before, known := s.memory("VmRSS")
	var after float64
	var busy time.Duration
	seen, err := followSockets(ctx, o, s.addr, 0, func() error {
		begun, _ := s.processorTime()
		if err := changeFor(ctx, sim, followFor); err != nil {
			return fmt.Errorf("change the cluster: %w", err)
		}
		after, _ = s.memory("VmRSS")
		ended, _ := s.processorTime()
		busy = ended - begun
		return nil
	})
	if err != nil {
		return err
	}
	r.add("sockets lost or refused", float64(seen.Lost), "", 0, seen.Reason)
	r.add("updates that a socket missed", float64(seen.Missed), "", 0, "")
	r.add("until all sockets are open", seen.Opened, "s", openSeconds, "as after a restart: all of them at once")
	if seen.Updates == 0 {
		return fmt.Errorf("no update reached all of %d sockets, of which %d were lost: %s", o.Sockets, seen.Lost, seen.Reason)
	}
	if known {
		r.add("memory of a socket", max(0, after-before)/float64(seen.Open), "B", bytesPerSocket,
			"of the server, resident, without the kernel's buffers")
	} else {
		r.unknown("memory of a socket", "this system does not tell")
	}
	r.add("an update, from the first socket to the last", median(seen.Millis), "ms", spreadMillis,
		fmt.Sprintf("median of %d updates of %.1f KB; slowest %.0f ms", seen.Updates, float64(seen.Bytes)/1000, seen.Millis[len(seen.Millis)-1]))
	beside, err := followSockets(ctx, o, s.addr, stalled(o.Sockets), func() error { return changeFor(ctx, sim, followFor) })
	if err != nil {
		return fmt.Errorf("follow beside sockets that stall: %w", err)
	}
	if seen.P99 > 0 && beside.P99 > 0 {
		r.add("99 % of arrivals beside one stalled socket in ten ÷ without", beside.P99/seen.P99, "", stalledRatio,
			fmt.Sprintf("%.0f ms after the first, %.0f ms without", beside.P99, seen.P99))
	}
	delays, err := sim.delays(ctx, seen.Ends)
	if err != nil {
		return fmt.Errorf("read the changelog: %w", err)
	}
	if n := len(delays); n > 0 {
		r.add("from a changelog entry to the last socket, median", median(delays), "ms", entryMillis, fmt.Sprintf("%d moves", n))
		r.add("the same, slowest", slices.Max(delays), "ms", slowestEntryMillis, "")
	}
	bare, err := followBare(ctx, o, seen.Bytes)
	if err != nil {
		return fmt.Errorf("measure a bare loop: %w", err)
	}
	if len(bare.Millis) > 0 {
		r.tell("the same bytes, written by a bare loop", median(bare.Millis), "ms",
			fmt.Sprintf("this machine's share, its %d browsers' included", bare.Open))
	}
	if busy > 0 {
		r.tell("processor time of the server for an update", busy.Seconds()*1000/float64(seen.Updates), "ms", "with all that it does meanwhile")
	}
	return nil
}

// followBare follows updates that a bare loop in a process of its own writes.
func followBare(ctx context.Context, o Options, bytes int) (seen Spread, err error) {
	p, err := startPart(ctx, o, "bare", "--bytes", strconv.Itoa(bytes))
	if err != nil {
		return seen, err
	}
	defer p.kill()
	addr, err := p.line()
	if err != nil {
		return seen, err
	}
	return followSockets(ctx, o, addr, 0, func() error { return wait(ctx, bareFor) })
}

// followSockets lets another process open the sockets and follow them during something.
func followSockets(ctx context.Context, o Options, addr string, stalled int, during func() error) (seen Spread, err error) {
	p, err := startPart(ctx, o, "sockets", "--addr", addr, "--topic", topic, "--sockets", strconv.Itoa(o.Sockets),
		"--stalled", strconv.Itoa(stalled))
	if err != nil {
		return seen, err
	}
	defer p.kill()
	if _, err := p.line(); err != nil { // all are open
		return seen, fmt.Errorf("open sockets: %w", err)
	}
	if err := during(); err != nil {
		return seen, err
	}
	if err := p.end.Close(); err != nil {
		return seen, err
	}
	if err := json.NewDecoder(p.out).Decode(&seen); err != nil {
		return seen, fmt.Errorf("follow sockets: %w: %s", err, strings.TrimSpace(p.failed.String()))
	}
	return seen, nil
}

// partProcess is a part of the measurement that goes on in a process of its own, until its
// input ends.
type partProcess struct {
	cmd    *exec.Cmd
	end    io.Closer
	out    *bufio.Reader
	failed strings.Builder
}

func startPart(ctx context.Context, o Options, args ...string) (*partProcess, error) {
	p := &partProcess{cmd: exec.CommandContext(ctx, o.Program, append([]string{"bench-part"}, args...)...)}
	p.cmd.Env = cleanEnvironment()
	p.cmd.Stderr = &p.failed
	end, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p.end, p.out = end, bufio.NewReader(out)
	return p, p.cmd.Start()
}

// line is the next line that the process prints.
func (p *partProcess) line() (string, error) {
	text, err := p.out.ReadString('\n')
	if err != nil {
		p.kill() // after which all that it complained of is there
		return "", fmt.Errorf("%w: %s", err, strings.TrimSpace(p.failed.String()))
	}
	return strings.TrimSpace(text), nil
}

func (p *partProcess) kill() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait() // a second one only says that it was waited for
}

// changeFor changes the cluster now and then.
func changeFor(ctx context.Context, sim *clusterProcess, d time.Duration) error {
	end := time.Now().Add(d)
	for i := 0; time.Now().Before(end); i++ {
		if err := sim.moveAround(ctx, i); err != nil {
			return err
		}
		if err := wait(ctx, changeEvery); err != nil {
			return err
		}
	}
	return nil
}
