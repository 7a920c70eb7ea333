package answer

import (
	"strings"
	"time"

	"shardboard/internal/actions/engine"
	"shardboard/internal/api"
	"shardboard/internal/format"
	"shardboard/internal/message"
	"shardboard/internal/topology"
)

// DrainOf is what is left on a shard that drains; nil if it does not.
func DrainOf(v View, shard string) *api.Drain {
	if s := v.Table.Shard(shard); s == nil || !s.Draining {
		return nil
	}
	left := v.Table.RemainsOn(shard)
	bytes := left.Bytes
	bytes.Exact = false // on disk the documents are compressed, and orphaned ones may be included
	out := &api.Drain{Jumbo: left.Jumbo, Bytes: FigureOf(bytes), Databases: NotNil(left.Databases), Unsharded: Map(left.Unsharded,
		NamespaceText)}
	if left.Known {
		out.Chunks = &left.Chunks
	}
	if at, known := v.Table.DrainingSince(shard); known {
		out.Since = api.Time(at)
	}
	if pace, known := v.Table.PaceOf(shard, v.Now); known {
		if took, ok := left.TimeLeft(pace); ok {
			seconds := took.Seconds()
			out.SecondsLeft = &seconds
		}
	}
	out.Text = drainText(left, out)
	return out
}

// drainText says what is left, and what does not leave by itself.
func drainText(left topology.Remains, d *api.Drain) string {
	switch {
	case !left.Known:
		return "What is left on it is not known yet."
	case left.Empty():
		return "Nothing is left on it."
	}
	var parts, stay []string
	if left.Chunks > 0 {
		text := Counted(left.Chunks, "chunk", "chunks")
		if left.Bytes.Known {
			text += ", about " + format.Bytes(left.Bytes.Value)
		}
		parts = append(parts, text)
	}
	for _, x := range []struct {
		n         int
		one, many string
		names     []string
	}{
		{left.Jumbo, "jumbo chunk", "jumbo chunks", nil},
		{len(d.Unsharded), "unsharded collection", "unsharded collections", d.Unsharded},
		{len(d.Databases), "database with it as primary shard", "databases with it as primary shard", d.Databases},
	} {
		if x.n > 0 {
			text := Counted(x.n, x.one, x.many)
			if len(x.names) > 0 {
				text += " (" + NamedText(x.names) + ")"
			}
			stay = append(stay, text)
		}
	}
	var out []string
	if len(parts) > 0 {
		out = append(out, "Left: "+strings.Join(parts, " ")+".")
	}
	if len(stay) > 0 {
		out = append(out, "Stays until somebody acts: "+format.JoinWords(stay)+".")
	}
	if left.Chunks > left.Jumbo {
		out = append(out, drainTimeText(d.SecondsLeft))
	}
	return strings.Join(out, " ")
}

func drainTimeText(seconds *float64) string {
	if seconds == nil {
		return "How long that takes is not known yet."
	}
	return "At the pace of the last half hour that takes about " +
		format.Span(time.Duration(*seconds*float64(time.Second)).Round(time.Second)) + "."
}

// NamedText lists the first names.
func NamedText(names []string) string {
	const listed = 3
	shown := Map(names[:min(len(names), listed)], PersonText)
	if more := len(names) - listed; more > 0 {
		shown = append(shown, Counted(more, "more", "more"))
	}
	return format.JoinWords(shown)
}

// DrainOfStep is what is left on the shard whose draining an open step waits for.
func DrainOfStep(v View, s engine.Step) *api.Drain {
	if !s.AwaitsDrain() || !s.State.Open() || s.Sent.IsZero() {
		return nil
	}
	return DrainOf(v, s.Shard)
}

// DrainingTexts say which shards drain because of a run.
func DrainingTexts(r engine.Run, t *topology.Table) (out []string) {
	for _, s := range r.Steps {
		now := t.Shard(s.Shard)
		if !s.Effects().Drains || s.State != engine.Succeeded || now == nil || !now.Draining {
			continue
		}
		out = append(out, message.New("standing.drains", "{shard} drains: the balancer keeps moving its chunks away.",
			message.Shard("shard", s.Shard)).String())
	}
	return out
}
