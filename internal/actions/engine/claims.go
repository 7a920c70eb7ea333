package engine

import (
	"slices"

	"shardboard/internal/actions/operation"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
	"shardboard/internal/topology"
)

// claim is one thing that a step needs for itself: a range of a collection's keys, one of its settings, the whole
// collection, or something else that has a name.
type claim struct {
	ns       topology.Namespace // "" for a thing that is no part of a collection
	thing    string             // a setting of ns, or the name of another thing; "" for keys
	min, max shardkey.Key       // of the keys; zero: the whole collection, with its settings
}

// overlaps reports whether two claims cannot be held by two runs.
func (c claim) overlaps(o claim) bool {
	switch {
	case c.ns != o.ns:
		return false
	case c.isWhole() || o.isWhole():
		return true
	case c.thing != "" || o.thing != "":
		return c.thing == o.thing
	}
	return c.min.Compare(o.max) < 0 && o.min.Compare(c.max) < 0
}

func (c claim) isWhole() bool { return c.ns != "" && c.thing == "" && c.min.IsZero() }

// text says that another run has the thing.
func (c claim) text(t *topology.Table, run string) message.Message {
	out := message.New("run.waiting", "Waiting for the {for}, which run {run} is using.",
		message.Text("for", c.String()), message.Text("run", run))
	if c.ns == "" {
		return out
	}
	out = out.With(message.Namespace("ns", c.ns))
	col := t.Collection(c.ns)
	switch {
	case c.thing != "":
		out.Code, out.Pattern = "run.waiting.setting", "Waiting for the {setting} of {ns}, which run {run} is changing."
		return out.With(message.Words("setting", c.thing))
	case c.isWhole() || col == nil:
		out.Code, out.Pattern = "run.waiting.collection", "Waiting for {ns}, which run {run} is changing."
		return out
	}
	out.Code, out.Pattern = "run.waiting.range", "Waiting for the keys {min} → {max} of {ns}, which run {run} is changing."
	return out.With(message.Key("min", col.Key.Display(c.min))).With(message.Key("max", col.Key.Display(c.max)))
}

// String names the thing for logs and records.
func (c claim) String() string {
	switch {
	case c.ns == "":
		return c.thing
	case c.thing != "":
		return c.thing + " of " + string(c.ns)
	case c.isWhole():
		return "collection " + string(c.ns)
	}
	return "range of " + string(c.ns)
}

func named(thing string) claim { return claim{thing: thing} }

// claimsOf is what a run needs for itself from right before the step is sent until its outcome is known.
func claimsOf(t *topology.Table, s operation.Step) (out []claim) {
	for _, l := range s.Locks() {
		c := claim{ns: l.NS, thing: l.Thing}
		if l.Keys {
			if span, ok := rangeClaim(t, s); ok {
				c = span
			}
		}
		out = append(out, c)
	}
	return append(out, shardClaims(s)...)
}

// rangeClaim is the range of keys that a step changes: its own bounds and the chunks that it requires. ok is false
// if they cannot be read.
func rangeClaim(t *topology.Table, s operation.Step) (span claim, ok bool) {
	c := t.Collection(s.NS)
	if c == nil {
		return claim{}, false
	}
	span.ns = s.NS
	widen := func(f operation.Fact) bool {
		lo, errLo := c.Key.Bound(f.Min)
		hi, errHi := c.Key.Bound(f.Max)
		if errLo != nil || errHi != nil {
			return false
		}
		if span.min.IsZero() || lo.Compare(span.min) < 0 {
			span.min = lo
		}
		if span.max.IsZero() || hi.Compare(span.max) > 0 {
			span.max = hi
		}
		return true
	}
	if s.Min != nil && !widen(operation.Fact{Min: s.Min, Max: s.Max}) {
		return claim{}, false
	}
	for _, f := range s.Needs {
		if f.Kind == operation.FactChunk && f.NS == s.NS && !widen(f) {
			return claim{}, false
		}
	}
	return span, !span.min.IsZero()
}

// shardClaims are the shards that take part in a migration: the recipient, and every shard that the step expects to
// own part of the range. A shard takes part in one at a time.
func shardClaims(s operation.Step) (out []claim) {
	if !s.Migrates() {
		return nil
	}
	names := []string{s.Shard}
	for _, f := range s.Needs {
		names = append(names, f.Want["shard"])
		if f.Kind == operation.FactCover {
			names = append(names, f.Want["shards"])
		}
	}
	slices.Sort(names)
	for _, name := range slices.Compact(names) {
		if name != "" {
			out = append(out, named("shard "+name))
		}
	}
	return out
}

// pauseClaims are what a run turns off for its time and turns on again: it has them until its end.
func pauseClaims(t *topology.Table, steps []Step) (out []claim) {
	for _, s := range steps {
		if s.Pauses || s.Restores {
			out = append(out, claimsOf(t, s.Step)...)
		}
	}
	return out
}
