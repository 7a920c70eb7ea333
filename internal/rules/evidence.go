package rules

import (
	"strconv"
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/topology"
)

// figure is a figure of the table as evidence.
func figure(name Message, unit string, f topology.Figure) Evidence {
	return Evidence{Name: name, Unit: unit, Known: f.Known, Value: float64(f.Value), PlusMinus: float64(f.PlusMinus),
		Exact: f.Exact, Method: f.Method, At: f.At, Reason: f.Reason}
}

// counted is what the routing table itself says.
func (l *look) counted(name string, n int, args ...string) Evidence {
	return Evidence{Name: say(name, args...), Unit: "count", Known: true, Value: float64(n), Exact: true, Method: "routing", At: l.Table.Health[topology.PartRouting].At}
}

func (l *look) text(name, text string, p topology.Part) Evidence {
	return Evidence{Name: say(name), Unit: "text", Known: true, Text: text, Exact: true, Method: "routing", At: l.Table.Health[p].At}
}

// rate is what was counted of writes; the share of all of them goes with it.
func rate(name Message, r heat.Rate, w Writes) Evidence {
	return Evidence{Name: name, Unit: "rate", Known: true, Value: r.PerSecond, PlusMinus: r.PlusMinus, Exact: r.Exact, AtLeast: r.AtLeast,
		Method: "writes", At: w.To, Over: w.Over, Covered: w.covered()}
}

// covered is the counted part of the window.
func (w Writes) covered() time.Duration {
	return min(w.Over, time.Duration(w.Seconds*float64(time.Second)).Round(time.Second))
}

func part(name Message, share float64, w Writes) Evidence {
	return Evidence{Name: name, Unit: "share", Known: true, Value: share, Method: "writes", At: w.To, Over: w.Over, Covered: w.covered()}
}

// sizeOf is a collection over all shards that own a part of it: unknown as soon
// as one of them is.
func (l *look) sizeOf(c *topology.Collection, of func(topology.Size) topology.Figure) topology.Figure {
	var parts []topology.Figure
	for shard := range c.Chunks.CountByShard() {
		parts = append(parts, of(l.Table.SizeOn(c.NS, shard)))
	}
	return sum(parts)
}

// sum adds figures; one that is not known makes the sum unknown.
func sum(parts []topology.Figure) topology.Figure {
	out := topology.Figure{Known: true, Exact: true}
	for _, f := range parts {
		if !f.Known {
			return topology.Figure{Reason: f.Reason}
		}
		out.Value += f.Value
		out.Exact = out.Exact && f.Exact
		out.Method = f.Method
		if out.At.IsZero() || f.At.Before(out.At) {
			out.At = f.At
		}
	}
	if len(parts) == 0 {
		return topology.Figure{Reason: "notLoaded"}
	}
	return out
}

func bytesOf(s topology.Size) topology.Figure { return s.Bytes }
func docsOf(s topology.Size) topology.Figure  { return s.Documents }

func itoa(n int) string      { return strconv.Itoa(n) }
func i64(n int64) string     { return strconv.FormatInt(n, 10) }
func f64(v float64) string   { return strconv.FormatFloat(v, 'g', 6, 64) }
func at(t time.Time) string  { return t.UTC().Format(time.RFC3339) }
func never(t time.Time) bool { return t.IsZero() }
