package answer

import (
	"maps"
	"slices"
	"strings"

	"go.mongodb.org/mongo-driver/v2/bson"

	"shardboard/internal/actions"
	"shardboard/internal/actions/engine"
	"shardboard/internal/actions/operation"
	"shardboard/internal/history"
	"shardboard/internal/message"
	"shardboard/internal/shardkey"
)

// Run is a run as far as those who look may see it. Every page and answer about a
// run goes through it.
func (v View) Run(r engine.Run) engine.Run {
	if v.Hidden == (Hidden{}) {
		return r
	}
	h := v.Table.Hiding()
	if h != nil {
		r.Args, r.Summary, r.Why = hideInArgs(r.Args, h), HideInMessage(r.Summary), HideInMessage(r.Why)
		r.Adaptations = slices.Clone(r.Adaptations)
		for i := range r.Adaptations {
			r.Adaptations[i].Because = hideInDifferences(r.Adaptations[i].Because, h)
		}
	}
	r.Steps = slices.Clone(r.Steps)
	for i := range r.Steps {
		s := &r.Steps[i]
		if v.Hidden.Texts {
			s.Error, s.Events = briefError(*s), HideInEvents(s.Events)
		}
		if h != nil {
			hideInStep(s, h)
		}
	}
	return r
}

// briefError is a step's error without the server's own words. What they mean is
// told from the whole text, so a phrase that tells it is kept.
func briefError(s engine.Step) string {
	switch {
	case s.Error == "" || s.Brief == s.Error:
		return s.Error
	case s.Brief == "": // recorded before the two were told apart
		return HideText(s.Error)
	}
	if phrase := history.Phrase(s.Error); phrase != "" && history.CodeOf(s.Brief) != history.CodeOf(s.Error) {
		return s.Brief + " " + HideText(phrase)
	}
	return s.Brief
}

func hideInStep(s *engine.Step, h *shardkey.Hiding) {
	s.Step, s.Command = hideInPlanned(s.Step, s.Command, h)
	s.Why, s.Changed = HideInMessage(s.Why), hideInDifferences(s.Changed, h)
	s.Before, s.Proven = hideInReadings(s.Before, h), hideInReadings(s.Proven, h)
	if s.Backoff != nil {
		wait := *s.Backoff
		wait.What = HideInMessage(wait.What)
		s.Backoff = &wait
	}
}

// Plan is a plan as far as those who look may see it. Its hash is over commands
// with bounds: who guesses them could compare.
func (v View) Plan(p actions.Plan) actions.Plan {
	h := v.Table.Hiding()
	if h == nil {
		return p
	}
	p.Hash, p.Args, p.Summary = "", hideInArgs(p.Args, h), HideInMessage(p.Summary)
	p.Undo.Text, p.Undo.Args = HideInMessage(p.Undo.Text), hideInArgs(p.Undo.Args, h)
	p.Steps, p.Commands, p.Checks = slices.Clone(p.Steps), slices.Clone(p.Commands), slices.Clone(p.Checks)
	for i := range p.Steps {
		var c operation.Command
		if i < len(p.Commands) {
			c = p.Commands[i]
		}
		p.Steps[i], c = hideInPlanned(p.Steps[i], c, h)
		if i < len(p.Commands) {
			p.Commands[i] = c
		}
	}
	for i, c := range p.Checks {
		p.Checks[i].Text, p.Checks[i].Source, p.Checks[i].Plans = HideInMessage(c.Text), HideInMessage(c.Source), withoutKeys(c.Plans)
	}
	p.Effect.Moves, p.Effect.Stays = slices.Clone(p.Effect.Moves), slices.Clone(p.Effect.Stays)
	for i := range p.Effect.Moves {
		m := &p.Effect.Moves[i]
		m.Min, m.Max = hiddenDocument(m.Min, h), hiddenDocument(m.Max, h)
	}
	for i, s := range p.Effect.Stays {
		p.Effect.Stays[i] = HideInMessage(s)
	}
	return p
}

// hiddenDocument is what stands in the place of a document with key values; none stays none.
func hiddenDocument(doc bson.Raw, h *shardkey.Hiding) bson.Raw {
	if len(doc) == 0 {
		return doc
	}
	return h.Document()
}

// hideInPlanned is a step with its command. A step without bounds has a command
// without any.
func hideInPlanned(s operation.Step, c operation.Command, h *shardkey.Hiding) (operation.Step, operation.Command) {
	if len(s.At)+len(s.Min)+len(s.Max) > 0 {
		c.Doc = hiddenDocument(c.Doc, h)
	}
	s.At, s.Min, s.Max = hiddenDocument(s.At, h), hiddenDocument(s.Min, h), hiddenDocument(s.Max, h)
	if s.Item != nil {
		x := *s.Item
		x.Summary, x.Steps = HideInMessage(x.Summary), nil
		if a, err := actions.ItemArgs(&x); err != nil || actions.SetItemArgs(&x, hideInArgs(a, h)) != nil {
			x.Args = nil // what cannot be read cannot be hidden
		}
		s.Item = &x
	}
	s.Needs, s.Proof, s.Goal = hideInFacts(s.Needs, h), hideInFacts(s.Proof, h), hideInFacts(s.Goal, h)
	return s, c
}

func hideInArgs(a actions.Args, h *shardkey.Hiding) actions.Args {
	return a.HideKeys(func(key bson.Raw) bson.Raw { return hiddenDocument(key, h) })
}

func hideInFacts(facts []operation.Fact, h *shardkey.Hiding) []operation.Fact {
	out := slices.Clone(facts)
	for i := range out {
		out[i] = hideInFact(out[i], h)
	}
	return out
}

func hideInFact(f operation.Fact, h *shardkey.Hiding) operation.Fact {
	f.Min, f.Max, f.Want = hiddenDocument(f.Min, h), hiddenDocument(f.Max, h), hideInFields(f.Want, h)
	return f
}

func hideInReadings(list []engine.Reading, h *shardkey.Hiding) []engine.Reading {
	out := slices.Clone(list)
	for i := range out {
		out[i].Fact, out[i].Got = hideInFact(out[i].Fact, h), hideInFields(out[i].Got, h)
	}
	return out
}

func hideInDifferences(list []operation.Difference, h *shardkey.Hiding) []operation.Difference {
	out := slices.Clone(list)
	for i := range out {
		d := &out[i]
		d.Fact, d.Want, d.Got = hideInFact(d.Fact, h), hideInField(d.Field, d.Want, h), hideInField(d.Field, d.Got, h)
	}
	return out
}

func hideInFields(fields map[string]string, h *shardkey.Hiding) map[string]string {
	out := maps.Clone(fields)
	for name, value := range out {
		out[name] = hideInField(name, value, h)
	}
	return out
}

// boundlessFields are the fields of facts that hold no key values.
var boundlessFields = []string{
	"exists", "draining", "member", "on", "windowStart", "windowStop", "windowDays", "windowRefused", "zone", "uuid", "timestamp", "epoch",
	"key", "noBalance", "migrationsBlocked", "shard", "lastmod", "jumbo", "shards", "chunks", "edges", "ranges",
	"databases", "others", "onlyOf", "chunkSize", "autoMerge", "defragmenting", "defragmentationEnds",
	"check", "goal", "clusterId", "expiresAt", "state",
}

func hideInField(name, value string, h *shardkey.Hiding) string {
	if value == "" || slices.Contains(boundlessFields, name) || strings.HasPrefix(name, "limit.") {
		return value
	}
	return h.Text
}

// HideInMessage takes key values out of a sentence. Why they are hidden is said
// where they stand alone, as in the command below; a sentence stays readable.
func HideInMessage(m message.Message) message.Message {
	m.Facts = slices.Clone(m.Facts)
	for i, f := range m.Facts {
		switch {
		case f.Kind == message.KindKey && f.Value != "":
			m.Facts[i] = message.Words(f.Name, "(hidden)")
		case f.Kind == message.KindProject && f.Shown != "": // the name is no key value, the id is one
			m.Facts[i] = message.Text(f.Name, f.Shown)
		}
	}
	return m
}

// withoutKeys leaves out the suggestions whose arguments have key values.
func withoutKeys(plans []actions.Suggestion) []actions.Suggestion {
	return slices.DeleteFunc(slices.Clone(plans), func(s actions.Suggestion) bool {
		for _, name := range []string{"bounds", "min", "max", "at"} {
			if s.Args[name] != "" {
				return true
			}
		}
		return slices.ContainsFunc(s.Text.Facts, func(f message.Fact) bool { return f.Kind == message.KindKey })
	})
}
