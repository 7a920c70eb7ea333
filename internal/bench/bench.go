// Package bench measures what watching a large cluster costs, on this machine, beside what
// it may cost: keys examined, time and memory of the first load, and live sockets. The
// cluster is simulated in this process; the server, the load and the browsers are
// processes of their own, so that what is measured is theirs alone.
package bench

import (
	"context"
	"fmt"
	"io"
	"runtime"
	"time"
)

// Options say what to measure.
type Options struct {
	Program string        // shardboard's own executable
	Chunks  int           // in one collection
	Sockets int           // 0: none
	Idle    time.Duration // how long the server is watched while nothing happens
	Storm   time.Duration // how long a hundred chunks a second are split; 0: not
	Turns   int           // loads and drains that are compared
	Log     io.Writer     // what is being done
}

// Report is what was measured.
type Report struct {
	Chunks  int      `json:"chunks"`
	Sockets int      `json:"sockets"`
	CPUs    int      `json:"cpus"`
	System  string   `json:"system"`
	Figures []Figure `json:"figures"`
	OK      bool     `json:"ok"` // no figure is over its bound
}

// Figure is one measured number. Without a bound it is for information.
type Figure struct {
	Name  string   `json:"name"`
	Value *float64 `json:"value"` // null: not measured
	Bound *float64 `json:"bound"` // the most that it may be; null: none
	Unit  string   `json:"unit"`
	Note  string   `json:"note,omitempty"`
}

// OK tells whether a figure is within its bound; one that was not measured is not over it.
func (f Figure) OK() bool { return f.Value == nil || f.Bound == nil || *f.Value <= *f.Bound }

func (r *Report) add(name string, value float64, unit string, bound float64, note string) {
	r.Figures = append(r.Figures, Figure{Name: name, Value: &value, Unit: unit, Bound: &bound, Note: note})
}

func (r *Report) tell(name string, value float64, unit, note string) {
	r.Figures = append(r.Figures, Figure{Name: name, Value: &value, Unit: unit, Note: note})
}

func (r *Report) unknown(name, note string) {
	r.Figures = append(r.Figures, Figure{Name: name, Note: note})
}

// Bounds of what watching may cost.
const (
	keysPerMinute = 300
	loadRatio     = 1.25
	readyRatio    = 3
	spreadMillis  = 100
	// From the entry of a move in the changelog to its update in the last browser.
	entryMillis        = 100
	slowestEntryMillis = 300
	bytesPerSocket     = 24 << 10
	openSeconds        = 10
	stalledRatio       = 1.2
)

// memoryBound is the most megabytes that a server may take with so many chunks: 300 up to
// a million, 1,000 at ten million.
func memoryBound(chunks int) float64 {
	millions := float64(chunks) / 1e6
	return 300 + max(0, millions-1)*700/9
}

// Needs says what a run takes, before it begins.
func (o Options) Needs() string {
	megabytes := 300 + 90*o.Chunks/1_000_000 + o.Sockets*40/1000
	took := time.Duration(o.Turns*2)*time.Duration(o.Chunks/400_000+1)*time.Second + o.Idle + 90*time.Second
	if o.Storm > 0 {
		took += o.Storm + settle + 10*time.Second
	}
	took += 30 * time.Second
	if o.Sockets > 0 {
		took += 2*followFor + 30*time.Second
	}
	return fmt.Sprintf("about %d MB of memory and %s; nothing outside of this machine is asked, and nothing is kept",
		megabytes, took.Round(10*time.Second))
}

// Run measures everything.
func Run(ctx context.Context, o Options) (Report, error) {
	r := Report{Chunks: o.Chunks, Sockets: o.Sockets, CPUs: runtime.NumCPU(), System: runtime.GOOS + "/" + runtime.GOARCH}
	say := func(format string, args ...any) { fmt.Fprintf(o.Log, format+"\n", args...) }
	say("This needs %s.", o.Needs())
	sim, err := startCluster(ctx, o.Chunks)
	if err != nil {
		return r, err
	}
	defer sim.stop()

	say("Loading and draining in turns: %d.", o.Turns)
	var times LoadTimes
	if err := part(ctx, o, &times, "load", "--uri", sim.uri, "--turns", fmt.Sprint(o.Turns)); err != nil {
		return r, fmt.Errorf("measure the load: %w", err)
	}
	r.tell("drain of the cursor", median(times.Drain), "s", "median")
	r.tell("first load", median(times.Load), "s", "median")
	note := ""
	if o.Chunks < fewChunks {
		note = "the first commands of a load weigh more with so few chunks"
	}
	r.add("first load ÷ drain", times.Ratio(), "", loadRatio, note)

	say("Starting a server.")
	s, err := startServer(ctx, o, sim.uri)
	if err != nil {
		return r, err
	}
	defer s.stop()
	r.tell("server, from start to ready", s.ready.Seconds(), "s", "")
	if ratio := s.ready.Seconds() / median(times.Drain); o.Chunks >= fewChunks {
		r.add("from start to ready ÷ drain", ratio, "", readyRatio, "")
	}
	if err := wait(ctx, settle); err != nil {
		return r, err
	}
	if peak, ok := s.memory("VmHWM"); ok {
		r.add("most memory of the server", peak/1e6, "MB", memoryBound(o.Chunks), "resident")
	} else {
		r.unknown("most memory of the server", "this system does not tell")
	}

	if err := wait(ctx, untilSweep); err != nil {
		return r, err
	}
	say("Watching while nothing happens, for %s.", o.Idle)
	keys, docs := sim.cluster.Examined()
	if err := wait(ctx, o.Idle); err != nil {
		return r, err
	}
	keysNow, docsNow := sim.cluster.Examined()
	perMinute := float64(time.Minute) / float64(o.Idle)
	r.add("index keys examined", float64(keysNow-keys)*perMinute, "/min", keysPerMinute, "on the config server")
	r.add("documents examined", float64(docsNow-docs)*perMinute, "/min", keysPerMinute, "on the config server")
	say("Asking what other programs ask for the same.")
	settled := int64(float64(keysNow-keys+docsNow-docs) * perMinute)
	if err := measurePeers(ctx, &r, settled, peerChunks); err != nil {
		return r, fmt.Errorf("measure other programs: %w", err)
	}

	if o.Sockets > 0 {
		say("Opening %d live sockets and following them for %s.", o.Sockets, followFor)
		if err := measureSockets(ctx, o, &r, sim, s); err != nil {
			return r, err
		}
	}
	if o.Storm > 0 {
		say("Splitting a hundred chunks a second for %s, beside a server that polls.", o.Storm)
		if err := measureStorm(ctx, o, &r, sim, s); err != nil {
			return r, fmt.Errorf("measure a storm of splits: %w", err)
		}
	}
	say("Starting servers of ten thousand collections and reading the same undecoded, in turns: %d.", o.Turns)
	if err := measureCollections(ctx, o, &r); err != nil {
		return r, fmt.Errorf("measure many collections: %w", err)
	}
	r.OK = true
	for _, f := range r.Figures {
		r.OK = r.OK && f.OK()
	}
	return r, nil
}

// fewChunks load so fast that the commands before their cursor show.
const fewChunks = 500_000

// settle is how long a server has after it is ready, for what follows a first load: the
// history is written, sizes are read.
const settle = 15 * time.Second

// untilSweep is until the sweep for jumbo flags has begun, which costs the most.
const untilSweep = time.Minute - settle

func wait(ctx context.Context, d time.Duration) error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
