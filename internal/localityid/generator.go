package localityid

import (
	"sync"
	"time"
)

// Mode is how the counter of a generator goes on.
type Mode string

const (
	// Default spreads ids over the whole key space: the counter grows by Step, and its digits are written reversed.
	Default Mode = "default"
	// Sequential keeps ids of the same ten minutes together, also those of different machines: the counter grows by
	// one from a start that follows from the time.
	Sequential Mode = "sequential"
)

// Step is what the counter of the default mode grows by, as the published ids show. It is odd, so all 2³² numbers come
// before one of them comes again.
const Step = 265_600_181

// Options say who makes ids.
type Options struct {
	Mode    Mode // "" is Default
	Process uint16
	MAC     uint32 // at most MaxMAC
	Counter uint32 // of the default mode: the number that the first id follows
	Now     func() time.Time
}

// Generator makes ids, each different from all others that it has made. It is safe for concurrent use.
type Generator struct {
	options Options

	mu      sync.Mutex
	counter uint32
	last    int64 // milliseconds of the newest id
	window  int64 // number of the window that counter began in, in sequential mode
}

// NewGenerator makes a generator. Options without a clock take that of the machine.
func NewGenerator(o Options) *Generator {
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Generator{options: o, counter: o.Counter, window: -1}
}

// Next makes an id. In sequential mode the counter starts again in each window; the published makers take a start only
// when they begin, so that processes of different age are apart. When the clock is set back, the time of ids stands
// still until the clock has caught up: the same counter with the same time would be the same id.
func (g *Generator) Next() ID {
	now := g.options.Now().UnixMilli()
	g.mu.Lock()
	defer g.mu.Unlock()
	g.last = max(g.last, now)
	written := uint32(0)
	if g.options.Mode == Sequential {
		if window := g.last / Window.Milliseconds(); window != g.window {
			g.window, g.counter = window, WindowStart(time.UnixMilli(g.last))
		}
		g.counter++
		written = g.counter
	} else {
		g.counter += Step
		written = Reversed(g.counter)
	}
	return Of(Fields{Counter: written, Process: g.options.Process, MAC: g.options.MAC, Milliseconds: g.last})
}
