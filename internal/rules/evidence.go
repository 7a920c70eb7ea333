package rules

import (
	"time"

	"shardboard/internal/heat"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// figure is a figure of the table.
func figure(name message.Message, unit string, f topology.Figure) Evidence {
	return Evidence{
		Name:      name,
		Unit:      unit,
		Known:     f.Known,
		Value:     float64(f.Value),
		PlusMinus: float64(f.PlusMinus),
		Exact:     f.Exact,
		Method:    f.Method,
		At:        f.At,
		Reason:    f.Reason,
	}
}

// counted is a number from the routing table.
func (ev *evaluation) counted(name message.Message, n int) Evidence {
	return Evidence{Name: name, Unit: "count", Known: true, Value: float64(n), Exact: true,
		Method: "routing", At: ev.Table.Health[topology.PartRouting].At}
}

// text is a name or a value from a part of the table.
func (ev *evaluation) text(name message.Message, f message.Fact, p topology.Part) Evidence {
	return textFrom(name, f, "routing", ev.Table.Health[p].At)
}

// textFrom is a text, and timeFrom a time, that some method gave at a time.
func textFrom(name message.Message, f message.Fact, method string, at time.Time) Evidence {
	return Evidence{Name: name, Unit: "text", Known: true, Text: f, Exact: true, Method: method, At: at}
}

func timeFrom(name message.Message, t time.Time, method string, at time.Time) Evidence {
	return Evidence{Name: name, Unit: "time", Known: true, Time: t, Exact: true, Method: method, At: at}
}

// shareFrom is a share that was computed from figures of a method.
func shareFrom(name message.Message, share float64, method string, at time.Time) Evidence {
	return Evidence{Name: name, Unit: "share", Known: true, Value: share, Method: method, At: at}
}

func (ev *evaluation) shardKey(c *topology.Collection) Evidence {
	return ev.text(message.New("hot.key", "Shard key"), message.Text("value", c.Key.String()), topology.PartRouting)
}

func (ev *evaluation) onShard(shard string, p topology.Part) Evidence {
	return ev.text(message.New("hot.shard", "Shard"), message.Shard("value", shard), p)
}

func (ev *evaluation) chunksOf(c *topology.Collection) Evidence {
	return ev.counted(message.New("blocked.chunks", "Chunks of the collection"), c.Chunks.Len())
}

func (ev *evaluation) zoneRanges(n int) Evidence {
	return ev.counted(message.New("zone.ranges", "Ranges"), n)
}

func (ev *evaluation) zoneShards(n int) Evidence {
	return ev.counted(message.New("zone.shards", "Shards in it"), n)
}

func (ev *evaluation) outsideZone(ns topology.Namespace, n int) Evidence {
	return ev.counted(message.New("zonesStuck.of", "Chunks of {ns} outside their zone", message.Namespace("ns", ns)), n)
}

// rate is what was counted of writes; the share of all of them goes with it.
func rate(name message.Message, r heat.Rate, w Writes) Evidence {
	return Evidence{
		Name:      name,
		Unit:      "rate",
		Known:     true,
		Value:     r.PerSecond,
		PlusMinus: r.PlusMinus,
		Exact:     r.Exact,
		AtLeast:   r.AtLeast,
		Method:    "writes",
		At:        w.To,
		Over:      w.Over,
		Covered:   w.covered(),
	}
}

// covered is the counted part of the window.
func (w Writes) covered() time.Duration {
	return min(w.Over, time.Duration(w.Seconds*float64(time.Second)).Round(time.Second))
}

// shareOf is a share of all counted writes.
func shareOf(name message.Message, share float64, w Writes) Evidence {
	return Evidence{
		Name:    name,
		Unit:    "share",
		Known:   true,
		Value:   share,
		Method:  "writes",
		At:      w.To,
		Over:    w.Over,
		Covered: w.covered(),
	}
}

// sizeOf is a collection over all shards that own a part of it: unknown as soon
// as one of them is.
func (ev *evaluation) sizeOf(c *topology.Collection, of func(topology.Size) topology.Figure) topology.Figure {
	var parts []topology.Figure
	for shard := range c.Chunks.CountByShard() {
		parts = append(parts, of(ev.Table.SizeOn(c.NS, shard)))
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
