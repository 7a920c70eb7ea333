package bench

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/fault"
	"shardboard/internal/simcluster"
)

// ManyNS is the collection with the chunks.
const ManyNS = simcluster.ManyNS

// clusterProcess is the simulated cluster, which this process serves.
type clusterProcess struct {
	cluster *simcluster.Cluster
	uri     string
	served  chan error
}

func startCluster(ctx context.Context, chunks int) (*clusterProcess, error) {
	return serveCluster(ctx, simcluster.Options{Projects: 12, Documents: 300, Still: true, ManyChunks: chunks})
}

func serveCluster(ctx context.Context, o simcluster.Options) (*clusterProcess, error) {
	c, err := simcluster.New(ctx, o)
	if err != nil {
		return nil, fault.Wrap(fault.Invalid, err, "The simulated cluster could not be created: %v.", err)
	}
	c.Start(context.WithoutCancel(ctx))
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		_ = c.Close()
		return nil, err
	}
	p := &clusterProcess{cluster: c, uri: "mongodb://" + l.Addr().String() + "/?directConnection=true", served: make(chan error, 1)}
	go func() { p.served <- c.Serve(l) }()
	return p, nil
}

func (p *clusterProcess) stop() {
	_ = p.cluster.Close()
	<-p.served
}

// moveAround moves a chunk to one shard after the other, so that live pages change.
func (p *clusterProcess) moveAround(ctx context.Context, to int) error {
	_, err := p.cluster.Command(ctx, "admin", bson.D{{Key: "moveChunk", Value: "yorkie-meta.changes"},
		{Key: "find", Value: bson.D{{Key: "doc_id", Value: bson.NilObjectID}}}, {Key: "to", Value: fmt.Sprintf("shard-rs-%d", to%3+1)},
		{Key: "_waitForDelete", Value: true}})
	return err
}

// delays are the milliseconds from each move that the changelog tells of, since the first update, to the update that
// came next. ends are in order.
func (p *clusterProcess) delays(ctx context.Context, ends []time.Time) (out []float64, err error) {
	if len(ends) == 0 {
		return nil, nil
	}
	reply, err := p.cluster.Command(ctx, "config", bson.D{{Key: "find", Value: "changelog"},
		{Key: "filter", Value: bson.D{{Key: "what", Value: "moveChunk.commit"}, {Key: "time", Value: bson.D{{Key: "$gte", Value: ends[0]}}}}},
		{Key: "batchSize", Value: int32(1000)}})
	if err != nil {
		return nil, err
	}
	entries, err := reply.Lookup("cursor", "firstBatch").Array().Values()
	for _, e := range entries {
		at := e.Document().Lookup("time").Time()
		for _, end := range ends {
			if !end.Before(at) {
				out = append(out, float64(end.Sub(at).Microseconds())/1000)
				break
			}
		}
	}
	return out, err
}

// part runs a part of the measurement in a process of its own, and reads its answer.
func part(ctx context.Context, o Options, into any, args ...string) error {
	cmd := exec.CommandContext(ctx, o.Program, append([]string{"bench-part"}, args...)...)
	var out, failed bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &failed
	cmd.Env = cleanEnvironment()
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%w: %s", err, strings.TrimSpace(failed.String()))
	}
	return json.Unmarshal(out.Bytes(), into)
}

// cleanEnvironment has none of the settings of the server of whoever measures, nor those of the garbage collector: with
// GOGC=800 in a shell every byte that is kept counts nine times.
func cleanEnvironment() []string {
	return slices.DeleteFunc(os.Environ(), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		return strings.HasPrefix(name, "SHARDBOARD_") || name == "GOGC" || name == "GOMEMLIMIT" || name == "GODEBUG"
	})
}

// serverProcess is the server that is measured.
type serverProcess struct {
	cmd   *exec.Cmd
	addr  string
	ready time.Duration // from its start
	dir   string
}

func startServer(ctx context.Context, o Options, uri string) (_ *serverProcess, err error) {
	s := &serverProcess{}
	if s.dir, err = os.MkdirTemp("", "shardboard-bench-"); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			s.stop()
		}
	}()
	data, keys := filepath.Join(s.dir, "data"), filepath.Join(s.dir, "keys")
	for _, dir := range []string{data, keys} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			return nil, err
		}
	}
	args := []string{"serve", "--uri", uri, "--listen", "127.0.0.1:0", "--auth", "none", "--data-dir", data,
		"--audit-key", filepath.Join(keys, "audit.key"), "--log-level", "error"}
	if o.Sockets > 0 {
		args = append(args, "--max-connections", strconv.Itoa(ConnectionsFor(o.Sockets)))
	}
	s.cmd = exec.CommandContext(ctx, o.Program, args...)
	s.cmd.Cancel = func() error { return s.cmd.Process.Signal(syscall.SIGTERM) }
	s.cmd.WaitDelay = 10 * time.Second
	s.cmd.Env = cleanEnvironment()
	var failed bytes.Buffer
	s.cmd.Stderr = &failed
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	begun := time.Now()
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	for lines.Scan() && s.addr == "" {
		if _, rest, ok := strings.Cut(lines.Text(), "http://"); ok {
			s.addr = strings.TrimRight(rest, "/")
		}
	}
	if s.addr == "" {
		return nil, fmt.Errorf("the server did not start: %s", strings.TrimSpace(failed.String()))
	}
	go func() {
		for lines.Scan() { // so that it never waits for a reader
		}
	}()
	for !s.answersReady(ctx) {
		if err := wait(ctx, 50*time.Millisecond); err != nil {
			return nil, err
		}
		if time.Since(begun) > 10*time.Minute {
			return nil, errors.New("the server is not ready after ten minutes")
		}
	}
	s.ready = time.Since(begun)
	return s, nil
}

func (s *serverProcess) answersReady(ctx context.Context) bool {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+s.addr+"/readyz", nil)
	if err != nil {
		return false
	}
	res, err := http.DefaultClient.Do(r)
	if err != nil {
		return false
	}
	_ = res.Body.Close()
	return res.StatusCode == http.StatusOK
}

// memory is a figure of the process in bytes, as Linux tells it: VmRSS or VmHWM.
func (s *serverProcess) memory(name string) (float64, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	for line := range strings.Lines(string(text)) {
		if rest, ok := strings.CutPrefix(line, name+":"); ok {
			n, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(rest), "kB")), 64)
			return n * 1024, err == nil
		}
	}
	return 0, false
}

// processorTime is how long the process has kept a processor busy, as Linux tells it.
func (s *serverProcess) processorTime() (time.Duration, bool) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", s.cmd.Process.Pid))
	if err != nil {
		return 0, false
	}
	_, rest, _ := strings.Cut(string(text), ") ") // the name before may have spaces
	fields := strings.Fields(rest)
	if len(fields) < 13 {
		return 0, false
	}
	user, _ := strconv.Atoi(fields[11])
	system, err := strconv.Atoi(fields[12])
	return time.Duration(user+system) * (time.Second / 100), err == nil // Linux counts hundredths on every architecture
}

func (s *serverProcess) stop() {
	if s.cmd != nil && s.cmd.Process != nil {
		_ = s.cmd.Process.Signal(syscall.SIGTERM)
		_ = s.cmd.Wait()
	}
	_ = os.RemoveAll(s.dir)
}
