package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"strconv"
	"strings"
	"text/tabwriter"
	"time"

	"shardboard/internal/app"
	"shardboard/internal/bench"
	"shardboard/internal/fault"
)

type benchCmd struct {
	Chunks  int           `default:"1000000" help:"Number of chunks, from 1,000 to 50,000,000."`
	Sockets int           `default:"1000" help:"Number of live sockets, at most 20,000; 0 measures none. Each is an open file here and in the server."`
	Idle    time.Duration `default:"2m" help:"How long to watch while nothing happens, at least 1m."`
	Storm   time.Duration `default:"1m" help:"How long to split a hundred chunks a second, at least 10s; 0 does not."`
	Turns   int           `default:"3" help:"How often to load and to drain, in turns."`
	JSON    bool          `name:"json" help:"Print the figures as JSON."`
}

// Help says what is measured.
func (benchCmd) Help() string {
	return "It measures what watching a large cluster costs on this machine, beside what it may cost: keys examined on the config server " +
		"while nothing happens, time and memory of the first load, live sockets, and a storm of changes. The cluster is simulated. " +
		"Exits with 1 when a figure is over its bound. Other work on the machine makes times worse, not keys and memory."
}

// figuresOver is returned when a figure is over its bound: the exit code is 1.
type figuresOver struct{}

func (figuresOver) Error() string { return "a figure is over its bound" }

func (c benchCmd) Run(e *env) error {
	switch {
	case c.Chunks < 1000 || c.Chunks > 50_000_000:
		return fault.New(fault.Invalid, "--chunks must be between 1000 and 50000000.")
	case c.Sockets < 0 || c.Sockets > 20_000:
		return fault.New(fault.Invalid, "--sockets must be between 0 and 20000.")
	case c.Idle < time.Minute || c.Idle > time.Hour:
		return fault.New(fault.Invalid, "--idle must be between 1m and 1h.")
	case c.Storm != 0 && c.Storm < 10*time.Second || c.Storm > time.Hour:
		return fault.New(fault.Invalid, "--storm must be 0, or between 10s and 1h.")
	case c.Turns < 1 || c.Turns > 100:
		return fault.New(fault.Invalid, "--turns must be between 1 and 100.")
	}
	if c.Sockets > 0 {
		if err := app.CheckOpenFiles(bench.ConnectionsFor(c.Sockets)); err != nil {
			return err
		}
	}
	program, err := os.Executable()
	if err != nil {
		return err
	}
	r, err := bench.Run(e.ctx, bench.Options{Program: program, Chunks: c.Chunks, Sockets: c.Sockets, Idle: c.Idle, Storm: c.Storm,
		Turns: c.Turns, Log: e.stderr})
	if err != nil {
		return err
	}
	if c.JSON {
		err = printJSON(e.stdout, r)
	} else {
		err = printFigures(e.stdout, r)
	}
	if err == nil && !r.OK {
		err = figuresOver{}
	}
	return err
}

func printFigures(w io.Writer, r bench.Report) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', 0)
	fmt.Fprintf(t, "Chunks: %d, sockets: %d, %s, CPUs: %d\n\nfigure\tmeasured\tat most\t\tnote\n", r.Chunks, r.Sockets, r.System, r.CPUs)
	for _, f := range r.Figures {
		measured, bound, state := "not measured", "", ""
		if f.Value != nil {
			measured = figure(*f.Value, f.Unit)
		}
		if f.Bound != nil {
			bound, state = figure(*f.Bound, f.Unit), "ok"
			if !f.OK() {
				state = "OVER"
			}
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\n", f.Name, measured, bound, state, f.Note)
	}
	fmt.Fprintf(t, "\n%s\n", verdict(r))
	return t.Flush()
}

// verdict says in one sentence what came of it.
func verdict(r bench.Report) string {
	var over []string
	bounds := 0
	for _, f := range r.Figures {
		if f.Bound != nil {
			bounds++
		}
		if !f.OK() {
			over = append(over, f.Name)
		}
	}
	if len(over) == 0 {
		return fmt.Sprintf("Within their bounds: all %d.", bounds)
	}
	return fmt.Sprintf("Over the bound: %s (%d of %d).", strings.Join(over, "; "), len(over), bounds)
}

func figure(n float64, unit string) string {
	decimals := 0
	if n < 10 && n != float64(int64(n)) {
		decimals = 2
	}
	s := strconv.FormatFloat(n, 'f', decimals, 64)
	if unit == "" {
		return s
	}
	return s + " " + unit
}

// benchPartCmd are the parts that bench runs in processes of their own.
type benchPartCmd struct {
	Load    benchLoadCmd    `cmd:""`
	Drain   benchDrainCmd   `cmd:""`
	Sockets benchSocketsCmd `cmd:""`
	Bare    benchBareCmd    `cmd:""`
}

type benchLoadCmd struct {
	URI   string `name:"uri" required:""`
	Turns int    `default:"3"`
}

func (c benchLoadCmd) Run(e *env) error {
	times, err := bench.MeasureLoad(e.ctx, c.URI, bench.ManyNS, c.Turns)
	if err != nil {
		return err
	}
	return json.NewEncoder(e.stdout).Encode(times)
}

type benchDrainCmd struct {
	URI   string `name:"uri" required:""`
	Turns int    `default:"3"`
}

func (c benchDrainCmd) Run(e *env) error {
	seconds, err := bench.MeasureDrain(e.ctx, c.URI, c.Turns)
	if err != nil {
		return err
	}
	return json.NewEncoder(e.stdout).Encode(seconds)
}

type benchSocketsCmd struct {
	Addr    string `required:""`
	Topic   string `required:""`
	Sockets int    `required:""`
	Stalled int
}

func (c benchSocketsCmd) Run(e *env) error {
	done := inputEnds()
	seen, err := bench.Follow(e.ctx, bench.SocketRun{Addr: c.Addr, Topic: c.Topic, Sockets: c.Sockets, Stalled: c.Stalled,
		Settle: bench.Settled, Done: done,
		Ready: func(open int) { fmt.Fprintf(e.stdout, "%d open\n", open) }})
	if err != nil {
		return err
	}
	return json.NewEncoder(e.stdout).Encode(seen)
}

type benchBareCmd struct {
	Bytes int `required:""`
}

func (c benchBareCmd) Run(e *env) error {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	fmt.Fprintln(e.stdout, l.Addr())
	ctx, cancel := context.WithCancel(e.ctx)
	defer cancel()
	ended := inputEnds()
	go func() {
		<-ended
		cancel()
	}()
	return bench.ServeBare(ctx, l, c.Bytes)
}

// inputEnds is closed when the parent closes the input, which ends a part.
func inputEnds() <-chan struct{} {
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = bufio.NewReader(os.Stdin).ReadString(0)
	}()
	return done
}
